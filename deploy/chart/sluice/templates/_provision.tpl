{{/* spec of a Job that makes Secrets. (dict "root" $ "name" … "made" …) */}}
{{- define "sluice.provisionJob" -}}
{{- $root := .root -}}
{{- $values := $root.Values.migrations -}}
{{- $scope := dict "root" $root "component" .component -}}
backoffLimit: {{ $values.backoffLimit }}
activeDeadlineSeconds: 600
template:
  metadata:
    labels:
      {{- toYaml (mergeOverwrite (deepCopy ($values.podLabels | default dict)) (include "sluice.labels" $scope | fromYaml)) | nindent 6 }}
    {{- with mergeOverwrite (deepCopy ($root.Values.commonAnnotations | default dict)) (deepCopy ($values.podAnnotations | default dict)) }}
    annotations:
      {{- toYaml . | nindent 6 }}
    {{- end }}
  spec:
    restartPolicy: OnFailure
    serviceAccountName: {{ .name }}
    automountServiceAccountToken: true
    {{- include "sluice.podCommon" (dict "root" $root "values" $values) | nindent 4 }}
    containers:
      - name: provision
        image: {{ include "sluice.image" (dict "root" $root "image" $values.image) }}
        imagePullPolicy: {{ $root.Values.image.pullPolicy }}
        args: [provision, secrets]
        env:
          - name: PROVISION_SECRETS
            value: {{ .made | quote }}
        securityContext:
          {{- toYaml (mergeOverwrite (include "sluice.containerSecurity" $root | fromYaml) (deepCopy ($values.securityContext | default dict))) | nindent 10 }}
        resources:
          {{- toYaml ($values.resources | default dict) | nindent 10 }}
        volumeMounts:
          - name: tmp
            mountPath: /tmp
    volumes:
      - name: tmp
        emptyDir:
          sizeLimit: 64Mi
{{- end -}}
