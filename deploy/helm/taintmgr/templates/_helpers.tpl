{{- define "taintmgr.selector" -}}
app.kubernetes.io/name: taintmgr
app.kubernetes.io/component: controller
{{- end }}

{{- define "taintmgr.labels" -}}
{{ include "taintmgr.labelsWith" (list . dict) }}
{{- end }}

{{- /* Labels of an object that has others: (list . OTHERS). Of a label that is said twice the first counts,
and what selectors go by before all. */}}
{{- define "taintmgr.labelsWith" -}}
{{- $root := index . 0 }}
{{- $selected := include "taintmgr.selector" $root | fromYaml }}
{{- $ours := dict "app.kubernetes.io/part-of" "taintmgr" "app.kubernetes.io/instance" $root.Release.Name "app.kubernetes.io/version" $root.Chart.AppVersion "app.kubernetes.io/managed-by" $root.Release.Service "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_") }}
{{- toYaml (merge dict $selected (index . 1) $root.Values.labels $ours) }}
{{- end }}

{{- /* Labels and annotations of an object that has no others. */}}
{{- define "taintmgr.metadata" -}}
labels:
  {{- include "taintmgr.labels" . | nindent 2 }}
{{- with .Values.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "taintmgr.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "taintmgr.acts" -}}
{{- if ne .Values.mode "observe" }}true{{ end -}}
{{- end }}

{{- define "taintmgr.asksKubelets" -}}
{{- if and .Values.nodePressure.enabled (eq .Values.nodePressure.source "kubelet") }}true{{ end -}}
{{- end }}

{{- define "taintmgr.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "taintmgr.podSecurity" -}}
runAsNonRoot: true
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- /* Those of definitions, which stay when the release goes: with them all policies would go. */}}
{{- define "taintmgr.crdMetadata" -}}
labels:
  {{- include "taintmgr.labels" . | nindent 2 }}
{{- $keep := ternary (dict "helm.sh/resource-policy" "keep") dict .Values.crds.keep }}
{{- with merge dict $keep .Values.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
