{{/* What would fail later, or hurt, is refused here with a sentence. */}}
{{- define "sluice.checks" -}}
{{- $values := .Values -}}
{{- $known := include "sluice.settingsFile" . | fromJson -}}
{{- range $name, $value := $values.settings -}}
  {{- $services := list -}}
  {{- range $component, $of := $known -}}
    {{- if hasKey $of.owned $name -}}{{- fail (printf "settings.%s is set by the chart: %s." $name (get $of.owned $name)) -}}{{- end -}}
    {{- if has $name $of.secrets -}}{{- fail (printf "settings.%s is a secret and does not belong into values: put it into a Secret under this name, and name the Secret in secrets.existingSecret." $name) -}}{{- end -}}
    {{- if has $name $of.plain -}}{{- $services = append $services $component -}}{{- end -}}
  {{- end -}}
  {{- if not $services -}}{{- fail (printf "settings.%s: no service has such a setting in this release; docs/settings.md lists all." $name) -}}{{- end -}}
{{- end -}}
{{- if and (not $values.secrets.existingSecret) (not $values.secrets.generate) -}}
  {{- fail "secrets.existingSecret must name a Secret with SERVICE_CLIENT_AUTH, KEY_PEPPER, MASTER_KEY and SNAPSHOT_KEY, or secrets.generate: true has them made once in the cluster. There is no default." -}}
{{- end -}}
{{- if not $values.trial.enabled -}}
  {{- range $store, $setting := dict "postgres" "DATABASE_URL" "clickhouse" "CLICKHOUSE_URL" "nats" "NATS_URL" "redis" "REDIS_URL" -}}
    {{- $of := get $values.stores $store -}}
    {{- $isWanted := or (has $store (list "postgres" "clickhouse")) $of.enabled -}}
    {{- if and $isWanted (not $of.existingSecret) (not $values.secrets.existingSecret) -}}
      {{- fail (printf "%s is missing: name the Secret that has it in stores.%s.existingSecret (key %s) or in secrets.existingSecret. Stores are yours; the profile deploy/values/trial.yaml brings small ones to try." $setting $store $of.key) -}}
    {{- end -}}
  {{- end -}}
{{- else -}}
  {{- if not $values.secrets.generate -}}{{- fail "trial.enabled makes the addresses of its stores beside the other keys: it needs secrets.generate: true." -}}{{- end -}}
  {{- range $store := list "postgres" "clickhouse" "nats" "redis" -}}
    {{- $isWanted := or (has $store (list "postgres" "clickhouse")) (get $values.stores $store).enabled -}}
    {{- if and $isWanted (not (get $values.trial $store).image) -}}
      {{- fail (printf "trial.%s.image must name an image of %s: Sluice ships none." $store $store) -}}
    {{- end -}}
  {{- end -}}
  {{- if $values.migrations.hook -}}{{- fail "trial.enabled needs migrations.hook: false: a hook runs before the stores of the release exist." -}}{{- end -}}
{{- end -}}
{{- range $component, $of := $known -}}
  {{- $key := include "sluice.valuesKey" $component -}}
  {{- range (get $values $key).extraEnv -}}
    {{- if hasKey $of.owned .name -}}{{- fail (printf "%s.extraEnv: %s is set by the chart: %s." $key .name (get $of.owned .name)) -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{- $fullname := include "sluice.fullname" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $fullname) -}}
  {{- fail (printf "%s is no name for Services, which begin with a letter and have letters, digits and hyphens alone: set fullnameOverride." $fullname) -}}
{{- end -}}
{{- $service := $values.gateway.service -}}
{{- if and (eq $service.type "ClusterIP") (or $service.nodePort $service.externalTrafficPolicy) -}}
  {{- fail "gateway.service.nodePort and .externalTrafficPolicy need gateway.service.type: NodePort or LoadBalancer." -}}
{{- end -}}
{{- if and (ne $service.type "LoadBalancer") (or $service.loadBalancerClass $service.loadBalancerSourceRanges) -}}
  {{- fail "gateway.service.loadBalancerClass and .loadBalancerSourceRanges need gateway.service.type: LoadBalancer." -}}
{{- end -}}
{{- if and $values.gateway.grpc.enabled (eq (int $service.port) 8789) -}}
  {{- fail "gateway.service.port: 8789 is the port of callers who speak gRPC (gateway.grpc.enabled)." -}}
{{- end -}}
{{- if and $values.gateway.mcpPort.enabled (eq (int $service.port) 8788) -}}
  {{- fail "gateway.service.port: 8788 is the port of MCP servers (gateway.mcpPort.enabled)." -}}
{{- end -}}
{{- if and (eq $values.tls.mode "existing") (not (and $values.tls.existing.gateway $values.tls.existing.controlPlane $values.tls.existing.dataService)) -}}
  {{- fail "tls.mode: existing needs the names of three Secrets (tls.crt, tls.key, ca.crt) in tls.existing.gateway, .controlPlane and .dataService." -}}
{{- end -}}
{{- if and (eq $values.tls.mode "certManager") $values.tls.certManager.issuerRef (not (get $values.tls.certManager.issuerRef "name")) -}}
  {{- fail "tls.certManager.issuerRef needs a name; empty, an authority is made for this installation." -}}
{{- end -}}
{{- $accounts := dict -}}
{{- range $component := list "gateway" "control-plane" "data-service" -}}
  {{- $key := include "sluice.valuesKey" $component -}}
  {{- $of := get $values $key -}}
  {{- $account := include "sluice.serviceAccountName" (dict "root" $ "component" $component) -}}
  {{- if and $of.serviceAccount.create (hasKey $accounts $account) -}}
    {{- fail (printf "%s.serviceAccount.name: %s is made by %s already: set %s.serviceAccount.create: false to use it there." $key $account (get $accounts $account) $key) -}}
  {{- end -}}
  {{- if $of.serviceAccount.create -}}{{- $_ := set $accounts $account $key -}}{{- end -}}
  {{- $least := include "sluice.graceSecondsMin" (dict "values" $of) | int -}}
  {{- if and $of.terminationGracePeriodSeconds (lt (int $of.terminationGracePeriodSeconds) $least) -}}
    {{- fail (printf "%s.terminationGracePeriodSeconds must be %d at least: shutdownDelaySeconds (%d), drainSeconds (%d), and 30 s in which what is held is written. Streams would be cut, and records lost." $key $least (int $of.drain.shutdownDelaySeconds) (int $of.drain.drainSeconds)) -}}
  {{- end -}}
  {{- if and $of.podDisruptionBudget.enabled (not (kindIs "invalid" $of.podDisruptionBudget.minAvailable)) (not (kindIs "invalid" $of.podDisruptionBudget.maxUnavailable)) -}}
    {{- fail (printf "%s.podDisruptionBudget takes minAvailable or maxUnavailable, not both: set the other to null." $key) -}}
  {{- end -}}
  {{- if and $of.podDisruptionBudget.enabled (kindIs "invalid" $of.podDisruptionBudget.minAvailable) (kindIs "invalid" $of.podDisruptionBudget.maxUnavailable) -}}
    {{- fail (printf "%s.podDisruptionBudget.enabled needs minAvailable or maxUnavailable." $key) -}}
  {{- end -}}
  {{- if and $of.autoscaling.enabled (lt (int $of.autoscaling.maxReplicas) (int $of.autoscaling.minReplicas)) -}}
    {{- fail (printf "%s.autoscaling.maxReplicas (%d) is below minReplicas (%d)." $key (int $of.autoscaling.maxReplicas) (int $of.autoscaling.minReplicas)) -}}
  {{- end -}}
  {{- if and (eq $of.dnsPolicy "None") (not (get $of.dnsConfig "nameservers")) -}}
    {{- fail (printf "%s.dnsPolicy: None needs %s.dnsConfig.nameservers." $key $key) -}}
  {{- end -}}
  {{- if and (not $of.serviceAccount.create) (not $of.serviceAccount.name) -}}
    {{- fail (printf "%s.serviceAccount.create: false needs %s.serviceAccount.name." $key $key) -}}
  {{- end -}}
{{- end -}}
{{- if $values.networkPolicy.enabled -}}
{{- range $component := list "gateway" "control-plane" "data-service" -}}
  {{- $key := include "sluice.valuesKey" $component -}}
  {{- $address := get ((get $values $key).settings | default dict) "LOG_STORE_BASEPATH" | default (get ($values.settings | default dict) "LOG_STORE_BASEPATH") | default "" -}}
  {{- if and (include "sluice.objectStore" (dict "root" $ "component" $component)) (regexMatch "^https?://[^/ ]+" $address) (not (get $values.networkPolicy.extraEgress $key)) -}}
    {{- $url := urlParse $address -}}
    {{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (ternary "443" "80" (eq $url.scheme "https")) -}}
    {{- $ports := list -}}
    {{- range $values.networkPolicy.objectStore.ports -}}{{- $ports = append $ports (int . | toString) -}}{{- end -}}
    {{- if not (has $port $ports) -}}
      {{- fail (printf "LOG_STORE_BASEPATH is at port %s, and no NetworkPolicy lets the %s out to it: say where it is in networkPolicy.objectStore.to, and networkPolicy.objectStore.ports: [%s]." $port $component $port) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}
{{- if and $values.ingress.enabled (not $values.ingress.hosts) -}}
  {{- fail "ingress.enabled needs ingress.hosts: at least one name under which callers reach the gateway." -}}
{{- end -}}
{{- if and $values.ingress.enabled (eq $values.ingress.pathType "Prefix") (not (regexMatch "^/(v1(/.*)?)?$" $values.ingress.path)) -}}
  {{- fail (printf "ingress.path: the gateway does not serve below %s, and an Ingress takes no prefix away by itself. Where the class rewrites, set ingress.pathType: ImplementationSpecific, and path and annotations as it wants them (docs/deploy/kubernetes.md); httpRoute.path does it anywhere." $values.ingress.path) -}}
{{- end -}}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) -}}
  {{- fail "httpRoute.enabled needs httpRoute.parentRefs: the Gateway that the route belongs to." -}}
{{- end -}}
{{- end -}}

{{/* What the end of a pod takes: see packages/service, which takes 14 s at most to close and to send its last lines; the rest is reserve. */}}
{{- define "sluice.graceSecondsMin" -}}
{{- add .values.drain.shutdownDelaySeconds .values.drain.drainSeconds 30 -}}
{{- end -}}
