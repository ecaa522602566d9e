{{/* Which object store a service has, of its settings; nothing for none, and for a folder. (dict "root" $ "component" …) */}}
{{- define "sluice.objectStore" -}}
{{- $settings := get .root.Values (include "sluice.valuesKey" .component) | dig "settings" dict | default dict -}}
{{- $store := get $settings "LOG_STORE" | default (get (.root.Values.settings | default dict) "LOG_STORE") -}}
{{- if and $store (ne $store "local") -}}{{- $store -}}{{- end -}}
{{- end -}}

{{/* One rule of egress: to a pod of ours, or to what values say. (dict "root" $ "to" "postgres") */}}
{{- define "sluice.egressRule" -}}
{{- $root := .root -}}
{{- $policy := $root.Values.networkPolicy -}}
{{- $own := dict "control-plane" (list 8788 8790) "data-service" (list 8791) "gateway" (list 8787) -}}
{{- $trial := dict "postgres" (list 5432) "clickhouse" (list 8123) "nats" (list 4222) "redis" (list 6379) -}}
{{- $ports := list -}}
{{- $peers := list -}}
{{- $protocols := list "TCP" -}}
{{- if or (hasKey $own .to) (and $root.Values.trial.enabled (hasKey $trial .to)) -}}
{{- $ports = get (merge $own $trial) .to -}}
{{- $peers = list (dict "podSelector" (dict "matchLabels" (include "sluice.selector" (dict "root" $root "component" .to) | fromYaml))) -}}
{{- else -}}
{{- $ports = (get $policy .to).ports -}}
{{- $peers = (get $policy .to).to -}}
{{- if eq .to "dns" -}}
{{- $protocols = list "UDP" "TCP" -}}
{{- if not $peers -}}
{{- $peers = list (dict "namespaceSelector" (dict "matchLabels" (dict "kubernetes.io/metadata.name" "kube-system")) "podSelector" (dict "matchLabels" (dict "k8s-app" "kube-dns"))) (dict "ipBlock" (dict "cidr" "169.254.20.10/32")) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $entries := list -}}
{{- range $port := $ports -}}{{- range $protocols -}}{{- $entries = append $entries (dict "protocol" . "port" $port) -}}{{- end -}}{{- end -}}
{{- $rule := dict "ports" $entries -}}
{{- if $peers -}}{{- $_ := set $rule "to" $peers -}}{{- end -}}
{{- toYaml $rule -}}
{{- end -}}
