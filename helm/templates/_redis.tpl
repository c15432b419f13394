{{- define "parley.externalRedis" -}}
{{- with .Values.externalRedis -}}
{{- if or .url .host .sentinel.nodes .cluster.nodes }}yes{{ end -}}
{{- end -}}
{{- end -}}

{{/* "yes" where anything is kept beyond a process. */}}
{{- define "parley.hasRedis" -}}
{{- if or .Values.redis.enabled (include "parley.externalRedis" .) }}yes{{ end -}}
{{- end -}}

{{/* How registry and agents reach Redis. */}}
{{- define "parley.redisEnv" -}}
{{- $external := .Values.externalRedis -}}
{{- if .Values.redis.enabled }}
- name: REDIS_URL
  value: redis://{{ include "parley.nameOf" (dict "root" . "component" "redis") }}:{{ .Values.redis.service.port }}/0
{{- else if $external.url }}
- name: REDIS_URL
  value: {{ $external.url | quote }}
{{- else if $external.host }}
- name: REDIS_URL
  value: {{ printf "%s://%s:%d/%d" (ternary "rediss" "redis" $external.tls) $external.host (int $external.port) (int $external.database) | quote }}
{{- else if $external.sentinel.nodes }}
- name: REDIS_SENTINELS
  value: {{ join "," $external.sentinel.nodes | quote }}
- name: REDIS_MASTER_NAME
  value: {{ $external.sentinel.masterName | quote }}
{{- else if $external.cluster.nodes }}
- name: REDIS_CLUSTER_NODES
  value: {{ join "," $external.cluster.nodes | quote }}
{{- end }}
{{- if and $external.tls (or $external.sentinel.nodes $external.cluster.nodes) }}
- name: REDIS_TLS
  value: 'true'
{{- end }}
{{- with $external.username }}
- name: REDIS_USERNAME
  value: {{ . | quote }}
{{- end }}
{{- with include "parley.redisSecret" . }}
- name: REDIS_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ . }}, key: redis-password } }
{{- end }}
{{- end -}}

{{/* The Secret with the password; empty where there is none. */}}
{{- define "parley.redisSecret" -}}
{{- $external := .Values.externalRedis -}}
{{- if .Values.redis.enabled -}}
{{- if .Values.redis.auth.enabled -}}
{{- .Values.redis.auth.existingSecret | default (include "parley.nameOf" (dict "root" . "component" "redis")) -}}
{{- end -}}
{{- else if include "parley.externalRedis" . -}}
{{- if $external.existingSecret -}}
{{- $external.existingSecret -}}
{{- else if $external.password -}}
{{- include "parley.nameOf" (dict "root" . "component" "redis") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Changes with the settings that decide about the password, so that pods start anew with it. */}}
{{- define "parley.redisStamp" -}}
{{- printf "%s%s" (toYaml .Values.redis.auth) (toYaml .Values.externalRedis) | sha256sum -}}
{{- end -}}
