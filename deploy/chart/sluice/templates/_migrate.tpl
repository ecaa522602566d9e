{{/* `migrate` and what comes after it: one image, one environment. */}}
{{- define "sluice.migrateContainer" -}}
{{- $root := .root -}}
{{- $values := $root.Values.migrations -}}
- name: {{ .what }}
  image: {{ include "sluice.image" (dict "root" $root "image" $values.image) }}
  imagePullPolicy: {{ $root.Values.image.pullPolicy }}
  {{- if eq .what "first-keys" }}
  args: [provision, first-keys]
  {{- end }}
  securityContext:
    {{- toYaml (mergeOverwrite (include "sluice.containerSecurity" $root | fromYaml) (deepCopy ($values.securityContext | default dict))) | nindent 4 }}
  envFrom:
    - configMapRef:
        name: {{ include "sluice.componentName" (dict "root" $root "component" "migrations") }}
    {{- with $values.extraEnvFrom }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  env:
    {{- $env := list }}
    {{- if eq .what "migrate" }}
    {{- $env = include "sluice.secretEnv" (dict "root" $root "component" "migrations") | fromYamlArray }}
    {{- else }}
    {{- $database := include "sluice.storeSecret" (dict "root" $root "store" "postgres" "setting" "DATABASE_URL") | fromJson }}
    {{- $env = list (dict "name" "DATABASE_URL" "valueFrom" (dict "secretKeyRef" $database)) }}
    {{- range list "MASTER_KEY" "KEY_PEPPER" }}
    {{- $env = append $env (dict "name" . "valueFrom" (dict "secretKeyRef" (dict "name" (include "sluice.keysSecret" $root) "key" .))) }}
    {{- end }}
    {{- range list "ADMIN_KEY" "WORKSPACE_KEY" }}
    {{- $env = append $env (dict "name" . "valueFrom" (dict "secretKeyRef" (dict "name" (include "sluice.firstKeysSecret" $root) "key" .))) }}
    {{- end }}
    {{- if and $root.Values.trial.enabled $root.Values.trial.demoUpstreamUrl }}
    {{- $env = append $env (dict "name" "DEMO_UPSTREAM_URL" "value" $root.Values.trial.demoUpstreamUrl) }}
    {{- end }}
    {{- end }}
    {{- include "sluice.env" (dict "own" $env "extra" $values.extraEnv) | nindent 4 }}
  resources:
    {{- toYaml ($values.resources | default dict) | nindent 4 }}
  volumeMounts:
    - name: tmp
      mountPath: /tmp
    {{- with $values.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* What `provision secrets` makes, as JSON; empty = nothing. */}}
{{- define "sluice.madeSecrets" -}}
{{- $secrets := list -}}
{{- if .Values.secrets.generate -}}
{{- $keys := dict "SERVICE_CLIENT_AUTH" "base64url:32" "KEY_PEPPER" "hex:32" "MASTER_KEY" "hex:32" "SNAPSHOT_KEY" "hex:32" -}}
{{- if .Values.trial.enabled -}}
{{- $name := include "sluice.fullname" . -}}
{{- $_ := set $keys "POSTGRES_PASSWORD" "hex:24" -}}
{{- $_ := set $keys "CLICKHOUSE_PASSWORD" "hex:24" -}}
{{- $_ := set $keys "NATS_PASSWORD" "hex:24" -}}
{{- $_ := set $keys "REDIS_PASSWORD" "hex:24" -}}
{{- $_ := set $keys "DATABASE_URL" (printf "text:postgres://sluice:{POSTGRES_PASSWORD}@%s-postgres:5432/sluice" $name) -}}
{{- $_ := set $keys "CLICKHOUSE_URL" (printf "text:http://sluice:{CLICKHOUSE_PASSWORD}@%s-clickhouse:8123/sluice" $name) -}}
{{- $_ := set $keys "NATS_URL" (printf "text:nats://sluice:{NATS_PASSWORD}@%s-nats:4222" $name) -}}
{{- $_ := set $keys "REDIS_URL" (printf "text:redis://:{REDIS_PASSWORD}@%s-redis:6379/0" $name) -}}
{{- end -}}
{{- $secrets = append $secrets (dict "name" (include "sluice.madeSecret" .) "keys" $keys) -}}
{{- end -}}
{{- if and .Values.firstKeys.enabled (not .Values.firstKeys.existingSecret) -}}
{{- $prefix := get (.Values.controlPlane.settings | default dict) "API_KEY_PREFIX" | default (get (.Values.settings | default dict) "API_KEY_PREFIX") | default "sl_" -}}
{{- $secrets = append $secrets (dict "name" (include "sluice.firstKeysSecret" .) "keys" (dict "ADMIN_KEY" (printf "key:%s" $prefix) "WORKSPACE_KEY" (printf "key:%s" $prefix))) -}}
{{- end -}}
{{- $certificates := dict -}}
{{- if eq .Values.tls.mode "own" -}}
{{- $of := list -}}
{{- range list "gateway" "control-plane" "data-service" -}}
{{- $scope := dict "root" $ "component" . -}}
{{- $of = append $of (dict "name" (include "sluice.tlsSecret" $scope) "dnsNames" (include "sluice.dnsNames" $scope | fromJsonArray)) -}}
{{- end -}}
{{- $certificates = dict "authority" (printf "%s-authority" (include "sluice.fullname" .)) "days" (int .Values.tls.own.days) "of" $of -}}
{{- end -}}
{{- if or $secrets $certificates -}}
{{- $labels := dict "app.kubernetes.io/name" (include "sluice.name" .) "app.kubernetes.io/instance" .Release.Name "app.kubernetes.io/part-of" "sluice" "sluice.dev/made-once" "true" -}}
{{- $made := dict "labels" $labels "secrets" $secrets -}}
{{- if $certificates -}}{{- $_ := set $made "certificates" $certificates -}}{{- end -}}
{{- toJson $made -}}
{{- end -}}
{{- end -}}
