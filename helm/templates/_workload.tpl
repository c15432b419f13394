{{/*
The pods of a service of ours. (root, component, values, env as YAML, sizeLimit of /tmp, mounts and volumes as YAML,
patience, anything else that a new pod is needed for: stamp)
*/}}
{{- define "parley.podTemplate" -}}
metadata:
  labels: {{- include "parley.podLabels" . | nindent 4 }}
  annotations:
    checksum/settings: {{ printf "%s%s" (toYaml .values.auth) .stamp | sha256sum }}
    {{- with .values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "parley.podCommon" (merge (dict "user" 1000) .) | nindent 2 }}
  terminationGracePeriodSeconds: {{ .root.Values.terminationGracePeriodSeconds }}
  containers:
    - name: {{ .component }}
      image: {{ include "parley.image" (dict "root" .root "image" .values.image) }}
      imagePullPolicy: {{ .values.image.pullPolicy }}
      ports:
        - { name: http, containerPort: {{ .values.service.httpPort }} }
        - { name: grpc, containerPort: {{ .values.service.grpcPort }} }
      env: {{- include "parley.env" (dict "env" .env "extraEnv" .values.extraEnv) | nindent 8 }}
      {{- include "parley.probes" . | nindent 6 }}
      lifecycle:
        preStop: { sleep: { seconds: {{ .root.Values.preStopSeconds }} } }
      resources: {{- toYaml .values.resources | nindent 8 }}
      securityContext: {{- include "parley.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- with .mounts }}
        {{- . | nindent 8 }}
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: { sizeLimit: {{ .sizeLimit }} } }
    {{- with .volumes }}
    {{- . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* A service of ours without a state of its own on disk. (as "parley.podTemplate", without sizeLimit) */}}
{{- define "parley.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata: {{- include "parley.metadata" . | nindent 2 }}
spec:
  {{- if not .values.autoscaling.enabled }}
  replicas: {{ .values.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  strategy:
    type: RollingUpdate
    # A new pod is ready before an old one goes.
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  selector:
    matchLabels: {{- include "parley.selectorLabels" . | nindent 6 }}
  template: {{- include "parley.podTemplate" (merge (dict "sizeLimit" "64Mi") .) | nindent 4 }}
{{- end -}}

{{/* (root, component, values, ports as YAML; absent: those of a service of ours) */}}
{{- define "parley.service" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "parley.metadata" . | nindent 2 }}
  {{- with .values.service.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .values.service.type | default "ClusterIP" }}
  selector: {{- include "parley.selectorLabels" . | nindent 4 }}
  ports: {{- .ports | default (include "parley.servicePorts" .) | nindent 4 }}
{{- end -}}

{{- define "parley.servicePorts" -}}
- { name: http, port: {{ .values.service.httpPort }}, targetPort: http, appProtocol: http }
- { name: grpc, port: {{ .values.service.grpcPort }}, targetPort: grpc, appProtocol: kubernetes.io/h2c }
{{- end -}}

{{/* Its name resolves to the pods themselves. (root, component, values) */}}
{{- define "parley.headlessService" -}}
{{- $name := printf "%s-headless" .component -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "parley.nameOf" (dict "root" .root "component" $name) }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "parley.labels" . | nindent 4 }}
spec:
  clusterIP: None
  selector: {{- include "parley.selectorLabels" . | nindent 4 }}
  ports: {{- include "parley.servicePorts" . | nindent 4 }}
{{- end -}}

{{/* (root, component, values) */}}
{{- define "parley.serviceAccount" -}}
{{- if .values.serviceAccount.create -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "parley.serviceAccountName" . }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "parley.labels" . | nindent 4 }}
  {{- with .values.serviceAccount.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end -}}
{{- end -}}

{{/* (root, component, values) */}}
{{- define "parley.autoscaler" -}}
{{- if (.values.autoscaling | default dict).enabled -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{- include "parley.metadata" . | nindent 2 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ include "parley.nameOf" . }} }
  minReplicas: {{ .values.autoscaling.minReplicas }}
  maxReplicas: {{ .values.autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ .values.autoscaling.targetCPUUtilizationPercentage }} }
  behavior:
    # A stop takes agreements and watches along: not for a lull of a minute.
    scaleDown: { stabilizationWindowSeconds: 300 }
{{- end -}}
{{- end -}}

{{/* What a StatefulSet keeps in the volume "data" of each pod. (root, component, values) */}}
{{- define "parley.claims" -}}
{{- with .values.persistence -}}
{{- if .enabled -}}
persistentVolumeClaimRetentionPolicy: { whenDeleted: {{ .whenDeleted }}, whenScaled: {{ .whenScaled | default "Retain" }} }
volumeClaimTemplates:
  - apiVersion: v1
    kind: PersistentVolumeClaim
    metadata:
      name: data
      labels: {{- include "parley.selectorLabels" $ | nindent 8 }}
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .storageClass }}
      storageClassName: {{ . }}
      {{- end }}
      resources: { requests: { storage: {{ .size }} } }
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The volume "data" where there is no claim for it. (values) */}}
{{- define "parley.unclaimedData" -}}
{{- if not .values.persistence.enabled -}}
- { name: data, emptyDir: { sizeLimit: {{ .values.persistence.size }} } }
{{- end -}}
{{- end -}}

{{/* Only where one pod may go and another stays. (root, component, values) */}}
{{- define "parley.disruptionBudget" -}}
{{- $least := .values.replicas -}}
{{- if (.values.autoscaling | default dict).enabled }}{{ $least = .values.autoscaling.minReplicas }}{{ end -}}
{{- if and .values.podDisruptionBudget.enabled (gt (int $least) 1) -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{- include "parley.metadata" . | nindent 2 }}
spec:
  maxUnavailable: {{ .values.podDisruptionBudget.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- include "parley.selectorLabels" . | nindent 6 }}
{{- end -}}
{{- end -}}

{{/* What a service of ours has beside its workload. (root, component, values) */}}
{{- define "parley.companions" -}}
{{ include "parley.service" . }}
---
{{ include "parley.headlessService" . }}
---
{{ include "parley.serviceAccount" . }}
---
{{ include "parley.autoscaler" . }}
---
{{ include "parley.disruptionBudget" . }}
{{- end -}}
