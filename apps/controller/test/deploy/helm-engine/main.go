// Renders a Helm chart as `helm template` does, for machines that have no helm: Go's own text/template
// with sprig, the function library of Helm, both as Debian packages them. Ours are the few functions
// that Helm adds and the way in which values are merged.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go build -o helm-engine main.go
//	echo '[{"release":"a","namespace":"b","values":{}}]' | ./helm-engine CHART
//
// stdin is a JSON list of installations, stdout one of what each renders: {"values", "files"} or {"error"}.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/ghodss/yaml"
)

type object = map[string]interface{}

type request struct {
	Release     string   `json:"release"`
	Namespace   string   `json:"namespace"`
	Values      object   `json:"values"`
	APIVersions versions `json:"apiVersions"`
}

type answer struct {
	Values object            `json:"values,omitempty"`
	Files  map[string]string `json:"files,omitempty"`
	Error  string            `json:"error,omitempty"`
}

// versions are what .Capabilities.APIVersions has.
type versions []string

func (v versions) Has(name string) bool {
	for _, one := range v {
		if one == name {
			return true
		}
	}
	return false
}

// files are those of the chart that are no templates.
type files map[string]string

func (f files) Get(name string) string { return f[name] }

type chart struct {
	metadata  object
	values    object
	files     files
	templates map[string]string
}

func main() {
	chart, err := load(os.Args[1])
	exitOn(err)
	var requests []request
	exitOn(json.NewDecoder(os.Stdin).Decode(&requests))
	answers := make([]answer, len(requests))
	for i, one := range requests {
		answers[i] = chart.install(one)
	}
	exitOn(json.NewEncoder(os.Stdout).Encode(answers))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func load(folder string) (*chart, error) {
	one := &chart{files: files{}, templates: map[string]string{}}
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		switch {
		case name == "Chart.yaml":
			return yaml.Unmarshal(text, &one.metadata)
		case name == "values.yaml":
			return yaml.Unmarshal(text, &one.values)
		case strings.HasPrefix(name, "templates/"):
			one.templates[name] = string(text)
		default:
			one.files[name] = string(text)
		}
		return nil
	})
	return one, err
}

func (c *chart) install(of request) answer {
	values := merge(c.values, of.Values)
	data := object{
		"Values": values,
		// Helm's Chart is a struct: its fields begin with capital letters.
		"Chart":   capitals(c.metadata),
		"Release": object{"Name": of.Release, "Namespace": of.Namespace, "Service": "Helm", "IsInstall": true, "IsUpgrade": false, "Revision": 1},
		"Files":   c.files,
		"Capabilities": object{
			"APIVersions": of.APIVersions,
			"KubeVersion": object{"Version": "v1.36.2", "Major": "1", "Minor": "36"},
		},
	}
	rendered, err := c.render(data)
	if err != nil {
		return answer{Values: values, Error: err.Error()}
	}
	return answer{Values: values, Files: rendered}
}

// merge lays values over defaults: maps are merged, null takes a default away, all else replaces it.
func merge(defaults, over object) object {
	merged := object{}
	for key, value := range defaults {
		merged[key] = value
	}
	for key, value := range over {
		below, isMap := merged[key].(object)
		above, areBoth := value.(object)
		switch {
		case value == nil:
			delete(merged, key)
		case isMap && areBoth:
			merged[key] = merge(below, above)
		default:
			merged[key] = value
		}
	}
	return merged
}

func capitals(of object) object {
	all := object{}
	for key, value := range of {
		all[strings.ToUpper(key[:1])+key[1:]] = value
	}
	return all
}

func (c *chart) render(data object) (map[string]string, error) {
	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(functions(all))
	for name, text := range c.templates {
		if _, err := all.New(name).Parse(text); err != nil {
			return nil, err
		}
	}
	rendered := map[string]string{}
	for name := range c.templates {
		if strings.HasPrefix(filepath.Base(name), "_") {
			continue
		}
		data["Template"] = object{"Name": name, "BasePath": "templates"}
		var out strings.Builder
		if err := all.ExecuteTemplate(&out, name, data); err != nil {
			return nil, err
		}
		rendered[name] = strings.ReplaceAll(out.String(), "<no value>", "")
	}
	return rendered, nil
}

func functions(all *template.Template) template.FuncMap {
	known := sprig.TxtFuncMap()
	delete(known, "env")
	delete(known, "expandenv")
	known["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(text), "\n")
	}
	known["fromYaml"] = func(text string) object {
		value := object{}
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			value["Error"] = err.Error()
		}
		return value
	}
	known["include"] = func(name string, data interface{}) (string, error) {
		var out strings.Builder
		err := all.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	return known
}
