{{/* Of images that answer at a port of their own. (the path) */}}
{{- define "parley.telemetryProbes" -}}
startupProbe:
  httpGet: { path: {{ . }}, port: health }
  periodSeconds: 1
  failureThreshold: 60
livenessProbe:
  httpGet: { path: {{ . }}, port: health }
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: { path: {{ . }}, port: health }
  periodSeconds: 5
  timeoutSeconds: 3
{{- end -}}
