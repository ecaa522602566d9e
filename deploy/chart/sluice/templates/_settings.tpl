{{/* What the services can be told, made of their settings.ts: see files/settings.json. */}}
{{- define "sluice.settingsFile" -}}
{{- .Files.Get "files/settings.json" -}}
{{- end -}}

{{/* A value as a variable: lists by commas, whole numbers without an exponent. */}}
{{- define "sluice.settingText" -}}
{{- if kindIs "slice" . -}}
{{- $items := list -}}
{{- range . -}}{{- $items = append $items (include "sluice.settingText" .) -}}{{- end -}}
{{- join "," $items -}}
{{- else if kindIs "float64" . -}}
{{- if eq . (floor .) -}}{{- printf "%.0f" . -}}{{- else -}}{{- toString . -}}{{- end -}}
{{- else -}}
{{- toString . -}}
{{- end -}}
{{- end -}}

{{/* Refuses what a service does not know, what is secret, and what the chart sets itself. */}}
{{- define "sluice.checkSettings" -}}
{{- $component := .component -}}
{{- $known := .known -}}
{{- range $name, $value := .settings -}}
{{- $where := printf "%s.settings.%s" (include "sluice.valuesKey" $component) $name -}}
{{- if hasKey $known.owned $name -}}
{{- fail (printf "%s is set by the chart: %s." $where (get $known.owned $name)) -}}
{{- else if has $name $known.secrets -}}
{{- fail (printf "%s is a secret and does not belong into values: put it into a Secret under this name, and name the Secret in secrets.existingSecret or %s.existingSecret." $where (include "sluice.valuesKey" $component)) -}}
{{- else if not (has $name $known.plain) -}}
{{- fail (printf "%s: the %s has no such setting in this release; docs/settings.md lists all." $where $component) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The variables of a service that are no secrets, as YAML of a map. (dict "root" $ "component" …) */}}
{{- define "sluice.environment" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- $values := get $root.Values (include "sluice.valuesKey" $component) -}}
{{- $known := get (include "sluice.settingsFile" $root | fromJson) $component -}}
{{- include "sluice.checkSettings" (dict "component" $component "known" $known "settings" $values.settings) -}}
{{- $environment := dict "NODE_ENV" "production" -}}
{{- if eq $component "migrations" -}}{{- $environment = dict -}}{{- end -}}
{{- range $name, $value := $root.Values.settings -}}
{{- if has $name $known.plain -}}{{- $_ := set $environment $name (include "sluice.settingText" $value) -}}{{- end -}}
{{- end -}}
{{- range $name, $value := $values.settings -}}
{{- $_ := set $environment $name (include "sluice.settingText" $value) -}}
{{- end -}}
{{- $host := dict -}}
{{- range list "gateway" "control-plane" "data-service" -}}
{{- $_ := set $host . (include "sluice.host" (dict "root" $root "component" .)) -}}
{{- end -}}
{{- $plain := eq $root.Values.tls.mode "none" -}}
{{- $controlPlaneUrl := printf "%s://%s:8788" (ternary "http" "https" $plain) (get $host "control-plane") -}}
{{- $own := dict -}}
{{- if ne $component "migrations" -}}
{{- $own = dict "HOST" $root.Values.listenAddress "SHUTDOWN_DELAY" (mul $values.drain.shutdownDelaySeconds 1000 | toString) "DRAIN_TIMEOUT" (mul $values.drain.drainSeconds 1000 | toString) "GRPC_ALLOW_INSECURE" (toString $plain) -}}
{{- if not $plain -}}
{{- $_ := set $own "TLS_CERT_PATH" "/etc/sluice/tls/tls.crt" -}}
{{- $_ := set $own "TLS_KEY_PATH" "/etc/sluice/tls/tls.key" -}}
{{- $_ := set $own "TLS_CA_PATH" "/etc/sluice/tls/ca.crt" -}}
{{- end -}}
{{- end -}}
{{- if eq $component "gateway" -}}
{{- $_ := set $own "PORT" "8787" -}}
{{- $_ := set $own "HTTP_TLS_ENABLED" "false" -}}
{{- $_ := set $own "GRPC_ENABLED" (toString $root.Values.gateway.grpc.enabled) -}}
{{- $_ := set $own "GRPC_PORT" "8789" -}}
{{- $_ := set $own "MCP_PORT" (ternary "8788" "0" $root.Values.gateway.mcpPort.enabled) -}}
{{- $_ := set $own "METRICS_PORT" "9464" -}}
{{- $_ := set $own "DATA_DIR" "/data" -}}
{{- $_ := set $own "CONTROL_PLANE_GRPC_URL" (printf "%s:8790" (get $host "control-plane")) -}}
{{- $_ := set $own "CONTROL_PLANE_URL" $controlPlaneUrl -}}
{{- $_ := set $own "DATA_SERVICE_GRPC_URL" (printf "%s:8791" (get $host "data-service")) -}}
{{- else if eq $component "control-plane" -}}
{{- $_ := set $own "PORT" "8788" -}}
{{- $_ := set $own "GRPC_PORT" "8790" -}}
{{- $_ := set $own "METRICS_PORT" "9465" -}}
{{- $_ := set $own "HTTP_TLS_ENABLED" (toString (not $plain)) -}}
{{- $_ := set $own "DATA_SERVICE_GRPC_URL" (printf "%s:8791" (get $host "data-service")) -}}
{{- else if eq $component "data-service" -}}
{{- $_ := set $own "PORT" "8792" -}}
{{- $_ := set $own "GRPC_PORT" "8791" -}}
{{- $_ := set $own "CONTROL_PLANE_GRPC_URL" (printf "%s:8790" (get $host "control-plane")) -}}
{{- $_ := set $own "GATEWAY_URL" (get $environment "GATEWAY_URL" | default (printf "http://%s:%d" (get $host "gateway") (int $root.Values.gateway.service.port))) -}}
{{- end -}}
{{- if or (eq $component "gateway") (eq $component "control-plane") -}}
{{/* What callers name must never lead back into the installation. */}}
{{- $hosts := list -}}
{{- range $name, $dns := $host -}}{{- $hosts = append $hosts $dns -}}{{- end -}}
{{- $_ := set $own "OWN_HOSTS" (join "," (concat (compact (splitList "," (get $environment "OWN_HOSTS" | default ""))) (sortAlpha $hosts))) -}}
{{- end -}}
{{- toYaml (mergeOverwrite $environment $own) -}}
{{- end -}}

{{/* From which Secret a store's address comes: name and key, or nothing. */}}
{{- define "sluice.storeSecret" -}}
{{- $root := .root -}}
{{- $store := get $root.Values.stores .store -}}
{{- if $root.Values.trial.enabled -}}
{{- dict "name" (include "sluice.madeSecret" $root) "key" .setting | toJson -}}
{{- else -}}
{{- dict "name" ($store.existingSecret | default $root.Values.secrets.existingSecret) "key" $store.key | toJson -}}
{{- end -}}
{{- end -}}

{{- define "sluice.madeSecret" -}}
{{- printf "%s-keys" (include "sluice.fullname" .) -}}
{{- end -}}

{{/* Which Secret has the keys of the installation. */}}
{{- define "sluice.keysSecret" -}}
{{- if and .Values.secrets.generate -}}
{{- include "sluice.madeSecret" . -}}
{{- else -}}
{{- .Values.secrets.existingSecret -}}
{{- end -}}
{{- end -}}

{{- define "sluice.firstKeysSecret" -}}
{{- .Values.firstKeys.existingSecret | default (printf "%s-first-keys" (include "sluice.fullname" .)) -}}
{{- end -}}

{{/* `env` of a container: the chart's entries, and after them the user's, each in the place of one of its name. (dict "own" … "extra" …) */}}
{{- define "sluice.env" -}}
{{- $extra := .extra | default list -}}
{{- $names := list -}}
{{- range $extra -}}{{- $names = append $names .name -}}{{- end -}}
{{- $entries := list -}}
{{- range .own -}}{{- if not (has .name $names) -}}{{- $entries = append $entries . -}}{{- end -}}{{- end -}}
{{- toYaml (concat $entries $extra) -}}
{{- end -}}

{{/* Secret settings as entries of `env`, each only to the service that has it. (dict "root" $ "component" …) */}}
{{- define "sluice.secretEnv" -}}
{{- $root := .root -}}
{{- $values := get $root.Values (include "sluice.valuesKey" .component) -}}
{{- $known := get (include "sluice.settingsFile" $root | fromJson) .component -}}
{{- $stores := dict "DATABASE_URL" "postgres" "CLICKHOUSE_URL" "clickhouse" "NATS_URL" "nats" "REDIS_URL" "redis" -}}
{{- $keys := list "SERVICE_CLIENT_AUTH" "KEY_PEPPER" "MASTER_KEY" "SNAPSHOT_KEY" -}}
{{- $entries := list -}}
{{- range $name := $known.secrets -}}
{{- if has $name $keys -}}
{{- $entries = append $entries (dict "name" $name "valueFrom" (dict "secretKeyRef" (dict "name" (include "sluice.keysSecret" $root) "key" $name))) -}}
{{- else if hasKey $stores $name -}}
{{- $store := get $stores $name -}}
{{- $isOptional := has $store (list "nats" "redis") -}}
{{- if or (not $isOptional) (get $root.Values.stores $store).enabled -}}
{{- $from := include "sluice.storeSecret" (dict "root" $root "store" $store "setting" $name) | fromJson -}}
{{- $reference := dict "name" $from.name "key" $from.key -}}
{{- $entries = append $entries (dict "name" $name "valueFrom" (dict "secretKeyRef" $reference)) -}}
{{- end -}}
{{- else if not (hasKey $known.owned $name) -}}
{{- $from := $values.existingSecret | default $root.Values.secrets.existingSecret | default (ternary (include "sluice.madeSecret" $root) "" $root.Values.secrets.generate) -}}
{{- if $from -}}
{{- $entries = append $entries (dict "name" $name "valueFrom" (dict "secretKeyRef" (dict "name" $from "key" $name "optional" true))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml $entries -}}
{{- end -}}
