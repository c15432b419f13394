{{/* Everything of one agent. (root, component, values) */}}
{{- define "parley.agent" -}}
{{- $mounts := "" -}}
{{- $volumes := "" -}}
{{- if .values.sessions.enabled -}}
{{- $mounts = "- { name: sessions, mountPath: /sessions }" -}}
{{- $volumes = printf "- { name: sessions, emptyDir: { sizeLimit: %s } }" .values.sessions.sizeLimit -}}
{{- end -}}
{{- $stamp := printf "%s%s" (include "parley.redisStamp" .root) (toYaml .root.Values.openai) -}}
{{ include "parley.deployment" (merge (dict "env" (include "parley.agentEnv" .) "stamp" $stamp "mounts" $mounts "volumes" $volumes) .) }}
---
{{ include "parley.companions" . }}
{{- with .values.auth }}
{{- if not .existingSecret }}
{{- $secret := include "parley.nameOf" $ }}
{{- $owner := include "parley.keptSecret" (dict "root" $.root "secret" $secret "key" "owner-token" "given" .ownerToken) }}
---
{{ include "parley.secret" (merge (dict "entries" (dict "owner-token" $owner "operator-token" .operatorToken)) $) }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "parley.agentEnv" -}}
{{- $host := include "parley.host" . -}}
- name: AGENT_ID
  value: {{ .values.id }}
{{ include "parley.serviceEnv" (merge (dict "prefix" "AGENT") .) }}
# The Service, not the pod: all replicas are one agent.
- name: AGENT_PUBLIC_URL
  value: {{ .values.publicUrl | default (printf "http://%s:%d" $host (int .values.service.httpPort)) | quote }}
- name: AGENT_PUBLIC_GRPC
  value: {{ .values.publicGrpc | default (printf "%s:%d" $host (int .values.service.grpcPort)) | quote }}
- name: AGENT_REGISTRY_URL
  value: {{ include "parley.registryUrl" .root }}
{{- if .values.sessions.enabled }}
- name: AGENT_SESSIONS_DIR
  value: /sessions
{{- end }}
{{- with .values.subagentProvider }}
- name: AGENT_SUBAGENT_PROVIDER
  value: {{ . }}
{{- end }}
# The same for all replicas: with it each may renew the one registration.
- name: AGENT_OWNER_TOKEN
  valueFrom: { secretKeyRef: { name: {{ include "parley.authSecret" . }}, key: owner-token } }
{{ include "parley.tokenEnv" (merge (dict "name" "AGENT_OPERATOR_TOKEN" "key" "operator-token" "given" .values.auth.operatorToken) .) }}
{{ include "parley.joinTokenEnv" (dict "root" .root "name" "AGENT_JOIN_TOKEN") }}
{{- include "parley.redisEnv" .root }}
{{- include "parley.openaiEnv" .root }}
{{- include "parley.telemetryEnv" . }}
{{- end -}}

{{- define "parley.openaiEnv" -}}
{{- with .Values.openai }}
{{- if or .existingSecret .apiKey }}
- name: OPENAI_API_KEY
  valueFrom: { secretKeyRef: { name: {{ .existingSecret | default (include "parley.nameOf" (dict "root" $ "component" "openai")) }}, key: api-key } }
{{- end }}
{{- with .baseUrl }}
- name: OPENAI_BASE_URL
  value: {{ . | quote }}
{{- end }}
{{- with .model }}
- name: OPENAI_MODEL
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}
