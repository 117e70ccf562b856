{{- define "taintmgr.selector" -}}
app.kubernetes.io/name: taintmgr
app.kubernetes.io/component: controller
{{- end }}

{{- define "taintmgr.labels" -}}
{{ include "taintmgr.selector" . }}
app.kubernetes.io/part-of: taintmgr
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
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
