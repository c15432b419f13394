{{/* What every pod has. (root, component, values, user) */}}
{{- define "parley.podCommon" -}}
serviceAccountName: {{ include "parley.serviceAccountName" . }}
automountServiceAccountToken: false
# Without it each Service of the namespace becomes variables, and REGISTRY_PORT may be one of them.
enableServiceLinks: false
{{- with .root.Values.global.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .user }}
  runAsGroup: {{ .user }}
  fsGroup: {{ .user }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* (root, component, values) */}}
{{- define "parley.podLabels" -}}
{{ include "parley.labels" . }}
{{- with .values.podLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "parley.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/*
Until it serves, while it lives, whether it is to be asked. Only the last looks at anything beyond the process.
(patience: how many times it may answer that it is not ready)
*/}}
{{- define "parley.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 1
  timeoutSeconds: 3
  failureThreshold: 120
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 2
  timeoutSeconds: 3
  failureThreshold: {{ .patience | default 2 }}
{{- end -}}

{{/* The service's own variables, without those that extraEnv sets otherwise. (env as YAML, extraEnv) */}}
{{- define "parley.env" -}}
{{- $taken := dict -}}
{{- range .extraEnv }}{{ $_ := set $taken .name true }}{{ end -}}
{{- $env := list -}}
{{- range fromYamlArray .env }}{{ if not (hasKey $taken .name) }}{{ $env = append $env . }}{{ end }}{{ end -}}
{{- toYaml (concat $env .extraEnv) -}}
{{- end -}}

{{/* What every service of ours reads. (root, values, prefix of the names) */}}
{{- define "parley.serviceEnv" -}}
- name: {{ .prefix }}_HOST
  value: 0.0.0.0
- name: {{ .prefix }}_HTTP_PORT
  value: {{ .values.service.httpPort | quote }}
- name: {{ .prefix }}_GRPC_PORT
  value: {{ .values.service.grpcPort | quote }}
- name: {{ .prefix }}_LOG_FORMAT
  value: {{ .root.Values.logFormat }}
- name: {{ .prefix }}_LOG_LEVEL
  value: {{ .root.Values.logLevel }}
{{- end -}}

{{/* (root, component) */}}
{{- define "parley.telemetryEnv" -}}
{{- $endpoint := include "parley.otelEndpoint" .root -}}
{{- if $endpoint }}
- name: OTEL_SERVICE_NAME
  value: {{ .component }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ $endpoint | quote }}
- name: OTEL_EXPORTER_OTLP_PROTOCOL
  value: http/protobuf
- name: OTEL_BSP_SCHEDULE_DELAY
  value: {{ .root.Values.otel.scheduleDelayMs | quote }}
{{- if ne .component "proxy" }}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
{{- end }}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: k8s.namespace.name={{ .root.Release.Namespace }},k8s.pod.name=$(POD_NAME),service.namespace={{ include "parley.fullname" .root }}
{{- end }}
{{- end -}}

{{- define "parley.otelEndpoint" -}}
{{- if .Values.otel.endpoint -}}
{{- .Values.otel.endpoint -}}
{{- else if .Values.collector.enabled -}}
http://{{ include "parley.nameOf" (dict "root" . "component" "otel-collector") }}:{{ .Values.collector.service.otlpHttpPort }}
{{- end -}}
{{- end -}}

{{- define "parley.registryUrl" -}}
http://{{ include "parley.nameOf" (dict "root" . "component" "registry") }}:{{ .Values.registry.service.httpPort }}
{{- end -}}
