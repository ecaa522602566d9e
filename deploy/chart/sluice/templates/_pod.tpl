{{/* What all pods have alike. (dict "root" $ "component" … "values" …) */}}
{{- define "sluice.podCommon" -}}
{{- $values := .values -}}
{{- with .root.Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
enableServiceLinks: false
securityContext:
  {{- toYaml (mergeOverwrite (include "sluice.podSecurity" .root | fromYaml) (deepCopy ($values.podSecurityContext | default dict))) | nindent 2 }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with $values.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.dnsPolicy }}
dnsPolicy: {{ . }}
{{- end }}
{{- with $values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The restricted Pod Security Standard. */}}
{{- define "sluice.podSecurity" -}}
runAsNonRoot: true
{{- if not .Values.openshift }}
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "sluice.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* One probe: (dict "path" "/health/ready" "port" "http" "scheme" "HTTP" "own" … "defaults" …) */}}
{{- define "sluice.probe" -}}
httpGet:
  path: {{ .path }}
  port: {{ .port }}
  scheme: {{ .scheme }}
{{ toYaml (mergeOverwrite (deepCopy .defaults) (.own | default dict)) }}
{{- end -}}

{{/* A service's pod template. (dict "root" $ "component" … "ports" … ) */}}
{{- define "sluice.podTemplate" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- $values := get $root.Values (include "sluice.valuesKey" $component) -}}
{{- $environment := include "sluice.environment" (dict "root" $root "component" $component) -}}
{{- $annotations := dict "checksum/config" (sha256sum $environment) -}}
{{- $secrets := include "sluice.secretsChecksum" (dict "root" $root "component" $component) -}}
{{- if $secrets -}}{{- $_ := set $annotations "checksum/secrets" $secrets -}}{{- end -}}
{{- $scheme := ternary "HTTPS" "HTTP" (and (eq $component "control-plane") (ne $root.Values.tls.mode "none")) -}}
metadata:
  labels:
    {{- toYaml (mergeOverwrite (deepCopy ($values.podLabels | default dict)) (include "sluice.labels" . | fromYaml)) | nindent 4 }}
  annotations:
    {{- toYaml (mergeOverwrite (deepCopy ($root.Values.commonAnnotations | default dict)) (deepCopy ($values.podAnnotations | default dict)) $annotations) | nindent 4 }}
spec:
  serviceAccountName: {{ include "sluice.serviceAccountName" . }}
  # None of them speaks to the API server. Clouds put their own tokens into pods where they are asked to.
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds | default (include "sluice.graceSecondsMin" (dict "values" $values) | int) }}
  {{- include "sluice.podCommon" (dict "root" $root "values" $values) | nindent 2 }}
  topologySpreadConstraints:
    {{- if $values.topologySpreadConstraints }}
    {{- toYaml $values.topologySpreadConstraints | nindent 4 }}
    {{- else }}
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "sluice.selector" $ | nindent 10 }}
    {{- end }}
    {{- end }}
  {{- with $values.initContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ $component }}
      image: {{ include "sluice.image" (dict "root" $root "image" $values.image) }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      securityContext:
        {{- toYaml (mergeOverwrite (include "sluice.containerSecurity" $root | fromYaml) (deepCopy ($values.securityContext | default dict))) | nindent 8 }}
      ports:
        {{- range $name, $port := .ports }}
        - name: {{ $name }}
          containerPort: {{ $port }}
          protocol: TCP
        {{- end }}
      envFrom:
        - configMapRef:
            name: {{ include "sluice.componentName" $ }}
        {{- with $values.extraEnvFrom }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      env:
        {{- $env := include "sluice.secretEnv" (dict "root" $root "component" $component) | fromYamlArray }}
        {{- if eq $component "gateway" }}
        {{- $env = prepend $env (dict "name" "REPLICA_ID" "valueFrom" (dict "fieldRef" (dict "fieldPath" "metadata.name"))) }}
        {{- end }}
        {{- include "sluice.env" (dict "own" $env "extra" $values.extraEnv) | nindent 8 }}
      startupProbe:
        {{- include "sluice.probe" (dict "path" "/health/live" "port" "http" "scheme" $scheme "own" $values.probes.startup "defaults" (dict "periodSeconds" 2 "timeoutSeconds" 2 "failureThreshold" 300)) | nindent 8 }}
      readinessProbe:
        {{- include "sluice.probe" (dict "path" "/health/ready" "port" "http" "scheme" $scheme "own" $values.probes.readiness "defaults" (dict "periodSeconds" 5 "timeoutSeconds" 3 "failureThreshold" 2)) | nindent 8 }}
      livenessProbe:
        {{- include "sluice.probe" (dict "path" "/health/live" "port" "http" "scheme" $scheme "own" $values.probes.liveness "defaults" (dict "periodSeconds" 10 "timeoutSeconds" 5 "failureThreshold" 6)) | nindent 8 }}
      resources:
        {{- toYaml ($values.resources | default dict) | nindent 8 }}
      volumeMounts:
        - name: tmp
          mountPath: /tmp
        {{- if eq $component "gateway" }}
        - name: data
          mountPath: /data
        {{- end }}
        {{- if ne $root.Values.tls.mode "none" }}
        - name: tls
          mountPath: /etc/sluice/tls
          readOnly: true
        {{- end }}
        {{- with $values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    {{- with $values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    - name: tmp
      emptyDir:
        sizeLimit: 256Mi
    {{- if and (eq $component "gateway") (not $values.persistence.enabled) }}
    - name: data
      emptyDir:
        sizeLimit: {{ $values.ephemeralSize }}
    {{- end }}
    {{- if ne $root.Values.tls.mode "none" }}
    - name: tls
      secret:
        secretName: {{ include "sluice.tlsSecret" (dict "root" $root "component" $component) }}
    {{- end }}
    {{- with $values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* Of the Secrets that users bring, where Helm can see them: a changed one restarts who reads it, with the next upgrade. */}}
{{- define "sluice.secretsChecksum" -}}
{{- $root := .root -}}
{{- $values := get $root.Values (include "sluice.valuesKey" .component) -}}
{{- $names := list $root.Values.secrets.existingSecret $values.existingSecret -}}
{{- range $store, $of := $root.Values.stores -}}{{- $names = append $names $of.existingSecret -}}{{- end -}}
{{- $found := list -}}
{{- range $name := compact $names | uniq | sortAlpha -}}
{{- $secret := lookup "v1" "Secret" $root.Release.Namespace $name -}}
{{- if $secret -}}{{- $found = append $found (toJson $secret.data) -}}{{- end -}}
{{- end -}}
{{- if $found -}}{{- join "" $found | sha256sum -}}{{- end -}}
{{- end -}}

{{- define "sluice.tlsSecret" -}}
{{- if eq .root.Values.tls.mode "existing" -}}
{{- get .root.Values.tls.existing (include "sluice.valuesKey" .component) -}}
{{- else -}}
{{- printf "%s-tls" (include "sluice.componentName" .) -}}
{{- end -}}
{{- end -}}

{{/* The names of a service in its certificate. */}}
{{- define "sluice.dnsNames" -}}
{{- $name := include "sluice.componentName" . -}}
{{- $namespace := .root.Release.Namespace -}}
{{- list $name (printf "%s.%s" $name $namespace) (printf "%s.%s.svc" $name $namespace) (printf "%s.%s.svc.%s" $name $namespace .root.Values.clusterDomain) | toJson -}}
{{- end -}}
