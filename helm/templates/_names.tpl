{{/* The release's name, or the override. Longest suffix: -registry-headless, 18; a StatefulSet's pods get ten more. */}}
{{- define "parley.fullname" -}}
{{- $name := .Values.fullnameOverride | default .Release.Name -}}
{{- if gt (len $name) 37 -}}
{{- /* Cut, two long names could become one: what was cut off lives on in the digest. */ -}}
{{- printf "%s-%s" ($name | trunc 28 | trimSuffix "-" | trimSuffix ".") ($name | sha256sum | trunc 8) -}}
{{- else -}}
{{- $name -}}
{{- end -}}
{{- end -}}

{{/* (root, component) */}}
{{- define "parley.nameOf" -}}
{{- printf "%s-%s" (include "parley.fullname" .root) .component -}}
{{- end -}}

{{/* (root, component): never anything here that changes between versions of the chart. */}}
{{- define "parley.selectorLabels" -}}
app.kubernetes.io/name: {{ .root.Values.nameOverride | default "parley" }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* (root, component) */}}
{{- define "parley.labels" -}}
{{ include "parley.selectorLabels" . }}
app.kubernetes.io/part-of: parley
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name (.root.Chart.Version | replace "+" "_") }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* (root, component): metadata of every resource but pods. */}}
{{- define "parley.metadata" -}}
name: {{ include "parley.nameOf" . }}
namespace: {{ .root.Release.Namespace }}
labels: {{- include "parley.labels" . | nindent 2 }}
{{- end -}}

{{/* (root, image) */}}
{{- define "parley.image" -}}
{{- $registry := .image.registry | default .root.Values.global.imageRegistry -}}
{{- $tag := .image.tag | default .root.Chart.AppVersion -}}
{{- if $registry -}}{{ trimSuffix "/" $registry }}/{{ end -}}{{ .image.repository }}:{{ $tag }}
{{- end -}}

{{/* (root, component, values) */}}
{{- define "parley.serviceAccountName" -}}
{{- if .values.serviceAccount.create -}}
{{- .values.serviceAccount.name | default (include "parley.nameOf" .) -}}
{{- else -}}
{{- .values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* Under which other namespaces reach a Service too. (root, component) */}}
{{- define "parley.host" -}}
{{- printf "%s.%s.svc" (include "parley.nameOf" .) .root.Release.Namespace -}}
{{- end -}}

{{/* For the command line. */}}
{{- define "parley.selectorOf" -}}
{{- printf "app.kubernetes.io/name=%s,app.kubernetes.io/instance=%s" (.Values.nameOverride | default "parley") .Release.Name -}}
{{- end -}}
