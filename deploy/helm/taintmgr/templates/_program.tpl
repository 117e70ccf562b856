{{- /* Environment of the controller: every setting is a variable too. */}}
{{- define "taintmgr.environment" -}}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: TAINTMGR_LOGGING_FORMAT
  value: {{ .Values.logging.format }}
- name: TAINTMGR_LEADER_ELECT_RESOURCE_NAMESPACE
  value: {{ .Release.Namespace | quote }}
- name: TAINTMGR_HEALTHZ_PORT
  value: "8081"
{{- if include "taintmgr.acts" . }}
- name: TAINTMGR_MODE
  value: {{ .Values.mode }}
{{- else }}
- name: TAINTMGR_DRY_RUN
  value: client
{{- /* What the next step is to do: that counts in the report. */}}
- name: TAINTMGR_MODE
  value: {{ (.Values.config.eviction).mode | default "evict" }}
{{- end }}
{{- if eq .Values.mode "evict-then-delete" }}
- name: TAINTMGR_DELETE_AFTER
  value: {{ .Values.deleteAfter | quote }}
{{- end }}
{{- if .Values.takeover.enabled }}
- name: TAINTMGR_TAKEOVER
  value: "true"
{{- end }}
{{- if .Values.nodePressure.enabled }}
- name: TAINTMGR_EVICTION_HARD
  value: {{ .Values.nodePressure.evictionHard | quote }}
{{- end }}
{{- if include "taintmgr.asksKubelets" . }}
- name: TAINTMGR_SUMMARY_SOURCE
  value: kubelet
- name: TAINTMGR_SUMMARY_SERVICE_ACCOUNT
  value: {{ .Release.Namespace }}/taintmgr-summary-reader
{{- end }}
{{- with .Values.tracing.endpoint }}
- name: TAINTMGR_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with .Values.logging.verbosity }}
- name: TAINTMGR_V
  value: {{ . | quote }}
{{- end }}
{{- if .Values.metrics.tlsSecretName }}
- name: TAINTMGR_TLS_CERT_FILE
  value: /etc/taintmgr/tls/tls.crt
- name: TAINTMGR_TLS_PRIVATE_KEY_FILE
  value: /etc/taintmgr/tls/tls.key
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The flag --controllers adds up. */}}
{{- define "taintmgr.arguments" -}}
- --controllers=taint-eviction-controller
{{- if .Values.nodeLifecycle.enabled }}
- --controllers=node-lifecycle-controller
{{- end }}
{{- if .Values.nodeDrains.enabled }}
- --controllers=node-drain-controller
{{- end }}
{{- if .Values.nodePressure.enabled }}
- --controllers=node-pressure-controller
{{- end }}
{{- if .Values.deviceTaints.enabled }}
- --controllers=device-taint-eviction-controller
{{- end }}
{{- if .Values.config }}
- --config=/etc/taintmgr/config/config.yaml
{{- end }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end }}
