{{/* What was given; else what an earlier installation made; else a new one. (root, secret, key, given) */}}
{{- define "parley.keptSecret" -}}
{{- if .given -}}
{{- .given -}}
{{- else -}}
{{- $held := lookup "v1" "Secret" .root.Release.Namespace .secret -}}
{{- $value := get ($held.data | default dict) .key -}}
{{- if $value }}{{ $value | b64dec }}{{ else }}{{ randAlphaNum 43 }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* A Secret of the chart, unless the values name one that is there. (root, component, entries: key to text) */}}
{{- define "parley.secret" -}}
apiVersion: v1
kind: Secret
metadata: {{- include "parley.metadata" . | nindent 2 }}
type: Opaque
stringData:
  {{- range $key, $value := .entries }}
  {{- if $value }}
  {{ $key }}: {{ $value | quote }}
  {{- end }}
  {{- end }}
{{- end -}}

{{/* (root, component, values): where the tokens of a service are. */}}
{{- define "parley.authSecret" -}}
{{- .values.auth.existingSecret | default (include "parley.nameOf" .) -}}
{{- end -}}

{{/*
A token that there need not be: of a Secret that exists each may be absent.
(root, component, values, name of the variable, key, given: what the values say)
*/}}
{{- define "parley.tokenEnv" -}}
{{- if or .values.auth.existingSecret .given -}}
- name: {{ .name }}
  valueFrom: { secretKeyRef: { name: {{ include "parley.authSecret" . }}, key: {{ .key }}, optional: true } }
{{- end -}}
{{- end -}}

{{/* Registering needs it when the registry has one. (root, name of the variable) */}}
{{- define "parley.joinTokenEnv" -}}
{{- $registry := .root.Values.registry -}}
{{- $token := dict "component" "registry" "values" $registry "key" "join-token" "given" $registry.auth.joinToken -}}
{{ include "parley.tokenEnv" (merge $token .) }}
{{- end -}}
