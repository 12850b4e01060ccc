{{- define "trainyard.labels" -}}
app.kubernetes.io/name: trainyard
{{- end }}

{{- define "trainyard.operatorArgs" -}}
- operator
{{- if .Values.namespaced }}
- --namespace={{ .Release.Namespace }}
{{- end }}
{{- if or (eq .Values.gang "volcano") (eq .Values.gang "trainyard") }}
- --gang-scheduler-name=volcano
{{- else if eq .Values.gang "kube-batch" }}
- --gang-scheduler-name=kube-batch
{{- else if eq .Values.gang "coscheduling" }}
- --gang-scheduler-name={{ .Values.coschedulingSchedulerName }}
{{- else if not (has .Values.gang (list "" "t9k")) }}
{{- fail (printf "gang: %q is none of volcano, kube-batch, coscheduling, t9k, trainyard" .Values.gang) }}
{{- end }}
{{- if .Values.ownVolcanoJobs }}
- --own-volcano-jobs
{{- end }}
{{- with .Values.operator.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "trainyard.workload" -}}
{{- $root := .root -}}
apiVersion: v1
kind: Service
metadata:
  name: trainyard-{{ .component }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "trainyard.labels" $root | nindent 4 }}
  annotations:
    prometheus.io/scrape: "true"
    prometheus.io/port: "8080"
spec:
  selector:
    app.kubernetes.io/name: trainyard
    app.kubernetes.io/component: {{ .component }}
  ports:
  - {name: metrics, port: 8080, targetPort: metrics}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: trainyard-{{ .component }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "trainyard.labels" $root | nindent 4 }}
spec:
  replicas: {{ .replicas }}
  selector:
    matchLabels:
      app.kubernetes.io/name: trainyard
      app.kubernetes.io/component: {{ .component }}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: trainyard
        app.kubernetes.io/component: {{ .component }}
    spec:
      serviceAccountName: trainyard-{{ .component }}
      terminationGracePeriodSeconds: 30
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        seccompProfile: {type: RuntimeDefault}
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector:
          matchLabels:
            app.kubernetes.io/name: trainyard
            app.kubernetes.io/component: {{ .component }}
      containers:
      - name: {{ .component }}
        image: {{ $root.Values.image.repository }}:{{ $root.Values.image.tag }}
        imagePullPolicy: {{ $root.Values.image.pullPolicy }}
        args: {{- .args | nindent 8 }}
        env:
        - name: POD_NAMESPACE
          valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
        - name: TRAINYARD_POD
          valueFrom: {fieldRef: {fieldPath: metadata.name}}
        ports:
        - {name: metrics, containerPort: 8080}
        - {name: health, containerPort: 8081}
        livenessProbe:
          httpGet: {path: /healthz, port: health}
          periodSeconds: 10
        readinessProbe:
          httpGet: {path: /readyz, port: health}
          periodSeconds: 10
        resources: {{- toYaml .resources | nindent 10 }}
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities: {drop: [ALL]}
{{- if $root.Values.podDisruptionBudget }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: trainyard-{{ .component }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "trainyard.labels" $root | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: trainyard
      app.kubernetes.io/component: {{ .component }}
{{- end }}
{{- if $root.Values.networkPolicy }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: trainyard-{{ .component }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "trainyard.labels" $root | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      app.kubernetes.io/name: trainyard
      app.kubernetes.io/component: {{ .component }}
  policyTypes: [Ingress, Egress]
  ingress:
  - ports:
    - {port: 8080, protocol: TCP}
    - {port: 8081, protocol: TCP}
  egress:
  - ports:
    {{- range $root.Values.apiServerPorts }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
    - {port: 53, protocol: TCP}
    - {port: 53, protocol: UDP}
{{- end }}
{{- end }}
