// A test of a Go client against the simulated cluster, with the standard library alone:
//
//	npx @taintmgr/api-server --topology three-zones -- go test ./...
//
// With client-go, clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG")) gives the same connection.
package example

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"testing"
	"time"
)

// cluster is a connection by what kubectl reads in KUBECONFIG.
type cluster struct {
	server, token string
	http          *http.Client
}

type metadata struct {
	Name            string `json:"name"`
	Namespace       string `json:"namespace"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

type pod struct {
	Metadata metadata `json:"metadata"`
}

type podList struct {
	Metadata metadata `json:"metadata"`
	Items    []pod    `json:"items"`
}

type budget struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Selector struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"selector"`
	} `json:"spec"`
	Status struct {
		DisruptionsAllowed int `json:"disruptionsAllowed"`
	} `json:"status"`
}

type status struct {
	Details struct {
		Causes []struct {
			Reason string `json:"reason"`
		} `json:"causes"`
	} `json:"details"`
}

func connect(t *testing.T) cluster {
	t.Helper()
	text, err := exec.Command("kubectl", "config", "view", "--raw", "--minify", "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
				CA     []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Token string `json:"token"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.Clusters[0].Cluster.CA)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	return cluster{
		server: config.Clusters[0].Cluster.Server,
		token:  config.Users[0].User.Token,
		http:   &http.Client{Transport: transport},
	}
}

// call sends a request and decodes the answer, whatever its code, which it gives.
func (c cluster) call(ctx context.Context, method, path string, body, answer any) (int, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, bytes.NewReader(content))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return response.StatusCode, json.NewDecoder(response.Body).Decode(answer)
}

// An evicted pod goes, and the disruption budget refuses what it has to.
func TestEviction(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c := connect(t)

	var budgets struct {
		Items []budget `json:"items"`
	}
	if _, err := c.call(ctx, "GET", "/apis/policy/v1/poddisruptionbudgets", nil, &budgets); err != nil {
		t.Fatal(err)
	}
	first := budgets.Items[0]
	pods := c.podsOf(ctx, t, first)

	evicted, refused := 0, 0
	for _, one := range pods.Items {
		var answer status
		code, err := c.call(ctx, "POST", podsPath(first)+"/"+one.Metadata.Name+"/eviction", map[string]any{
			"apiVersion": "policy/v1",
			"kind":       "Eviction",
			"metadata":   map[string]any{"name": one.Metadata.Name, "namespace": one.Metadata.Namespace},
		}, &answer)
		switch {
		case err != nil:
			t.Fatal(err)
		case code == http.StatusCreated:
			evicted++
		case code == http.StatusTooManyRequests && answer.Details.Causes[0].Reason == "DisruptionBudget":
			refused++
		default:
			t.Fatalf("%s: %d %+v", one.Metadata.Name, code, answer)
		}
	}
	if evicted != first.Status.DisruptionsAllowed || refused == 0 {
		t.Fatalf("%d evicted, want %d; %d refused", evicted, first.Status.DisruptionsAllowed, refused)
	}
	c.waitDeleted(ctx, t, first, pods.Metadata.ResourceVersion)
}

func podsPath(one budget) string {
	return fmt.Sprintf("/api/v1/namespaces/%s/pods", one.Metadata.Namespace)
}

func (c cluster) podsOf(ctx context.Context, t *testing.T, one budget) podList {
	t.Helper()
	selector := ""
	for key, value := range one.Spec.Selector.MatchLabels {
		selector += "," + key + "=" + value
	}
	var pods podList
	path := podsPath(one) + "?labelSelector=" + url.QueryEscape(selector[1:])
	if _, err := c.call(ctx, "GET", path, nil, &pods); err != nil {
		t.Fatal(err)
	}
	return pods
}

// waitDeleted watches until a pod is deleted.
func (c cluster) waitDeleted(ctx context.Context, t *testing.T, one budget, since string) {
	t.Helper()
	path := c.server + podsPath(one) + "?watch=true&resourceVersion=" + since
	request, err := http.NewRequestWithContext(ctx, "GET", path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	response, err := c.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	changes := json.NewDecoder(response.Body)
	for {
		var change struct {
			Type string `json:"type"`
		}
		if err := changes.Decode(&change); err != nil {
			t.Fatal(err)
		}
		if change.Type == "DELETED" {
			return
		}
	}
}
