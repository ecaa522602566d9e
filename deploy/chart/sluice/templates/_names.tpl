{{- define "sluice.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 40 characters: names of pods have more behind it, and 63 is all there is. */}}
{{- define "sluice.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "sluice.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "sluice.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Of pods: never changed by an upgrade. Takes (dict "root" $ "component" "gateway"). */}}
{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ include "sluice.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "sluice.labels" -}}
{{- $own := include "sluice.selector" . | fromYaml -}}
{{- $more := dict "app.kubernetes.io/version" (.root.Chart.AppVersion | toString) "app.kubernetes.io/managed-by" .root.Release.Service "app.kubernetes.io/part-of" "sluice" "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_") -}}
{{- toYaml (mergeOverwrite (deepCopy (.root.Values.commonLabels | default dict)) $more $own) -}}
{{- end -}}

{{/* metadata of an object: (dict "root" $ "component" … "name" … "annotations" … "labels" …) */}}
{{- define "sluice.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- $labels := include "sluice.labels" . | fromYaml }}
  {{- toYaml (mergeOverwrite (deepCopy (default dict .labels)) $labels) | nindent 2 }}
{{- $annotations := mergeOverwrite (deepCopy (.root.Values.commonAnnotations | default dict)) (default dict .annotations) }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What the services are called in values, by their component. */}}
{{- define "sluice.valuesKey" -}}
{{- get (dict "gateway" "gateway" "control-plane" "controlPlane" "data-service" "dataService" "migrations" "migrations") . -}}
{{- end -}}

{{- define "sluice.componentName" -}}
{{- printf "%s-%s" (include "sluice.fullname" .root) .component -}}
{{- end -}}

{{/* The DNS name by which the others, and certificates, know a service. */}}
{{- define "sluice.host" -}}
{{- printf "%s.%s.svc" (include "sluice.componentName" .) .root.Release.Namespace -}}
{{- end -}}

{{- define "sluice.serviceAccountName" -}}
{{- $values := get .root.Values (include "sluice.valuesKey" .component) -}}
{{- default (include "sluice.componentName" .) $values.serviceAccount.name -}}
{{- end -}}

{{/* (dict "root" $ "image" .Values.gateway.image) */}}
{{- define "sluice.image" -}}
{{- $registry := .root.Values.global.imageRegistry | default .root.Values.image.registry | trimSuffix "/" -}}
{{- $tag := .image.tag | default .root.Values.image.tag | default .root.Chart.AppVersion -}}
{{- if .image.digest -}}
{{- printf "%s/%s@%s" $registry .image.repository .image.digest -}}
{{- else -}}
{{- printf "%s/%s:%s" $registry .image.repository $tag -}}
{{- end -}}
{{- end -}}

{{/* An image that the user names whole; a registry override takes the place of its first part when that is a registry. */}}
{{- define "sluice.foreignImage" -}}
{{- $image := .image -}}
{{- $parts := splitList "/" $image -}}
{{- $first := first $parts -}}
{{- $hasRegistry := and (gt (len $parts) 1) (or (contains "." $first) (contains ":" $first) (eq $first "localhost")) -}}
{{- if .root.Values.global.imageRegistry -}}
{{- $rest := ternary (join "/" (rest $parts)) $image $hasRegistry -}}
{{- printf "%s/%s" (.root.Values.global.imageRegistry | trimSuffix "/") $rest -}}
{{- else -}}
{{- $image -}}
{{- end -}}
{{- end -}}
