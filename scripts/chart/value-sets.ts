import type { ValueSet } from './render.ts';

/** What a person has to say at least: where their Secret is. */
export const own = { secrets: { existingSecret: 'sluice' } };

const images = {
  postgres: { image: 'docker.io/library/postgres:18' },
  clickhouse: { image: 'docker.io/clickhouse/clickhouse-server:26.3' },
  nats: { image: 'docker.io/library/nats:2.12' },
  redis: { image: 'docker.io/library/redis:8' },
};

/** Every profile of deploy/values, with what it says must be said beside it. */
export const profiles: Readonly<Record<string, ValueSet>> = {
  trial: { profiles: ['trial'], values: { trial: images } },
  airgap: {
    profiles: ['airgap'],
    values: {
      ...own,
      global: { imageRegistry: 'registry.internal:5000/mirror', imagePullSecrets: ['registry'] },
      settings: { TRUSTED_CUSTOM_HOSTS: ['models.internal'] },
    },
  },
  'single-tenant': { profiles: ['single-tenant'], values: own },
  openshift: { profiles: ['openshift'], values: own },
  eks: { profiles: ['eks'], values: own },
  gke: {
    profiles: ['gke'],
    values: {
      ...own,
      httpRoute: { parentRefs: [{ name: 'external-http' }], hostnames: ['ai.example.com'] },
    },
  },
  aks: { profiles: ['aks'], values: own },
};

const scaled = {
  enabled: true,
  minReplicas: 3,
  maxReplicas: 9,
  targetCPUUtilizationPercentage: 60,
};
const everywhere = {
  podAnnotations: { 'example.com/a': 'b' },
  podLabels: { team: 'ai' },
  nodeSelector: { pool: 'ai' },
  tolerations: [{ key: 'ai', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchExpressions: [{ key: 'arch', operator: 'In', values: ['arm64'] }] },
        ],
      },
    },
  },
  priorityClassName: 'important',
  runtimeClassName: 'gvisor',
  hostAliases: [{ ip: '10.0.0.1', hostnames: ['models.internal'] }],
  dnsPolicy: 'None',
  dnsConfig: { nameservers: ['10.0.0.10'], options: [{ name: 'ndots', value: '2' }] },
  extraEnv: [{ name: 'TZ', value: 'UTC' }],
  extraEnvFrom: [{ configMapRef: { name: 'more' } }],
  extraVolumes: [{ name: 'prices', configMap: { name: 'prices' } }],
  extraVolumeMounts: [{ name: 'prices', mountPath: '/prices', readOnly: true }],
};
const ofServices = {
  ...everywhere,
  annotations: { 'example.com/owner': 'ai' },
  extraContainers: [{ name: 'beside', image: 'registry.internal/beside:1' }],
  initContainers: [{ name: 'before', image: 'registry.internal/before:1' }],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
  ],
  serviceAccount: { create: false, name: 'given' },
  probes: { readiness: { periodSeconds: 2 } },
  existingSecret: 'of-this-service',
};
const digest = `sha256:${'a'.repeat(64)}`;

/** Ways in which people set it up, beside the profiles. */
export const valueSets: Readonly<Record<string, ValueSet>> = {
  'the least': { values: own },
  'keys that are made': {
    values: {
      secrets: { generate: true },
      stores: { postgres: { existingSecret: 'pg' }, clickhouse: { existingSecret: 'ch' } },
    },
  },
  'a Secret for each store': {
    values: {
      secrets: { existingSecret: 'keys' },
      stores: {
        postgres: { existingSecret: 'pg', key: 'uri' },
        clickhouse: { existingSecret: 'ch', key: 'url' },
        nats: { enabled: true, existingSecret: 'nats' },
        redis: { enabled: true, existingSecret: 'redis', key: 'url' },
      },
    },
  },
  'one Secret, keys of our own': {
    values: { ...own, stores: { postgres: { key: 'uri' }, redis: { enabled: true, key: 'url' } } },
  },
  'a part of another chart': {
    values: { ...own, enabled: true, global: { imageRegistry: 'localhost:5000/', tier: 'gold' } },
  },
  'NATS and Redis': {
    values: { ...own, stores: { nats: { enabled: true }, redis: { enabled: true } } },
  },
  'gateways without volumes': {
    values: { ...own, gateway: { persistence: { enabled: false }, replicas: 5 } },
  },
  'autoscaling by CPU': {
    values: {
      ...own,
      gateway: { autoscaling: scaled },
      controlPlane: { autoscaling: scaled },
      dataService: { autoscaling: scaled },
    },
  },
  'autoscaling by streams': {
    values: {
      ...own,
      gateway: {
        persistence: { enabled: false },
        autoscaling: {
          ...scaled,
          openStreams: { enabled: true, averageValue: '200' },
          extraMetrics: [
            {
              type: 'External',
              external: { metric: { name: 'queue' }, target: { type: 'Value', value: '5' } },
            },
          ],
        },
      },
    },
  },
  'an ingress': {
    values: {
      ...own,
      ingress: {
        enabled: true,
        className: 'nginx',
        hosts: ['ai.example.com', '*.ai.example.com'],
        tls: [{ secretName: 'ai-tls', hosts: ['ai.example.com'] }],
        annotations: { 'nginx.ingress.kubernetes.io/proxy-buffering': 'off' },
      },
    },
  },
  'an ingress below a prefix': {
    values: {
      ...own,
      ingress: {
        enabled: true,
        hosts: ['example.com'],
        path: '/ai(/|$)(.*)',
        pathType: 'ImplementationSpecific',
        annotations: { 'nginx.ingress.kubernetes.io/rewrite-target': '/$2' },
      },
    },
  },
  'Gateway API below a prefix': {
    values: { ...own, httpRoute: { enabled: true, path: '/ai', parentRefs: [{ name: 'shared' }] } },
  },
  'Gateway API': {
    values: {
      ...own,
      httpRoute: {
        enabled: true,
        parentRefs: [{ name: 'shared', namespace: 'gateways' }],
        hostnames: ['ai.example.com'],
      },
    },
  },
  'cert-manager': { values: { ...own, tls: { mode: 'certManager' } } },
  'an issuer of cert-manager': {
    values: {
      ...own,
      tls: {
        mode: 'certManager',
        certManager: { issuerRef: { name: 'corporate', kind: 'ClusterIssuer' } },
      },
    },
  },
  'certificates that are given': {
    values: {
      ...own,
      firstKeys: { existingSecret: 'first' },
      tls: { mode: 'existing', existing: { gateway: 'a', controlPlane: 'b', dataService: 'c' } },
    },
  },
  'no TLS': { values: { ...own, tls: { mode: 'none' } } },
  'no NetworkPolicies': { values: { ...own, networkPolicy: { enabled: false } } },
  'NetworkPolicies that name everybody': {
    values: {
      ...own,
      stores: { nats: { enabled: true }, redis: { enabled: true } },
      networkPolicy: {
        callers: [{ namespaceSelector: { matchLabels: { callers: 'yes' } } }],
        scrapers: [
          { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
        ],
        postgres: { to: [{ ipBlock: { cidr: '10.1.0.0/24' } }], ports: [5433] },
        extraEgress: {
          gateway: [
            {
              to: [{ ipBlock: { cidr: '10.9.0.0/16' } }],
              ports: [{ port: 8000, protocol: 'TCP' }],
            },
          ],
        },
      },
    },
  },
  monitoring: {
    values: {
      ...own,
      serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
      prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
      dashboards: { enabled: true, annotations: { folder: 'AI' } },
    },
  },
  'everything extra, everywhere': {
    values: {
      ...own,
      commonLabels: { 'example.com/cost': '42' },
      commonAnnotations: { 'example.com/contact': 'ai@example.com' },
      gateway: ofServices,
      controlPlane: ofServices,
      dataService: ofServices,
      migrations: everywhere,
    },
  },
  'images by digest, from a mirror': {
    values: {
      ...own,
      global: { imageRegistry: 'mirror.example.com', imagePullSecrets: ['a', 'b'] },
      gateway: { image: { digest } },
      controlPlane: { image: { tag: '9.9.9' } },
      migrations: { image: { digest } },
    },
  },
  'settings of all kinds': {
    values: {
      ...own,
      settings: { LOG_LEVEL: 'debug', HEADER_PREFIX_ALIASES: ['x-portkey-', 'x-acme-'] },
      gateway: {
        settings: {
          OUTBOX_BYTES_MAX: 4 * 1024 ** 4,
          SEMANTIC_CACHE_SIMILARITY_THRESHOLD: 0.925,
          STRICT_PARAMS: true,
          PROMETHEUS_HISTOGRAM_BUCKETS: [0.5, 1, 10_000_000],
          OWN_HOSTS: ['10.0.0.0/8'],
        },
      },
      migrations: {
        settings: { CLICKHOUSE_REPLICATION_ENABLED: true, CLICKHOUSE_CLUSTER_NAME: 'ledger' },
      },
    },
  },
  'streams that last': {
    values: {
      ...own,
      gateway: {
        drain: { shutdownDelaySeconds: 20, drainSeconds: 3600 },
        terminationGracePeriodSeconds: 4000,
      },
    },
  },
  'callers who speak gRPC': {
    values: {
      ...own,
      gateway: { grpc: { enabled: true }, settings: { GRPC_FAILURES: 'status' } },
      networkPolicy: {
        callers: [{ namespaceSelector: { matchLabels: { callers: 'yes' } } }],
      },
    },
  },
  'MCP on a port of its own': {
    values: {
      ...own,
      gateway: { mcpPort: { enabled: true } },
      networkPolicy: {
        callers: [{ namespaceSelector: { matchLabels: { callers: 'yes' } } }],
      },
    },
  },
  'an object store inside': {
    values: {
      ...own,
      settings: { LOG_STORE: 's3_custom', LOG_STORE_BASEPATH: 'https://minio.stores:9000/bodies' },
      networkPolicy: { objectStore: { to: [{ podSelector: {} }], ports: [9000] } },
    },
  },
  'a load balancer': {
    values: {
      ...own,
      gateway: {
        service: {
          type: 'LoadBalancer',
          port: 443,
          loadBalancerSourceRanges: ['10.0.0.0/8'],
          externalTrafficPolicy: 'Local',
        },
      },
    },
  },
  'migrations beside the services': {
    values: {
      ...own,
      migrations: { hook: false, ttlSecondsAfterFinished: 600 },
      firstKeys: { enabled: false },
    },
  },
  'blocks of which nothing is left': {
    values: {
      ...own,
      settings: null,
      commonLabels: null,
      commonAnnotations: null,
      gateway: {
        replicas: null,
        settings: null,
        resources: null,
        podLabels: null,
        podAnnotations: null,
        podSecurityContext: null,
        securityContext: null,
        extraEnv: null,
        probes: { startup: null, readiness: null, liveness: null },
      },
      controlPlane: { settings: null },
      dataService: { settings: null, serviceAccount: { annotations: null } },
      migrations: { settings: null, resources: null, securityContext: null, podAnnotations: null },
      networkPolicy: { callers: null, extraEgress: { gateway: null } },
    },
  },
  'IPv6 and another name': {
    values: {
      ...own,
      listenAddress: '::',
      fullnameOverride: 'ai-gateway',
      clusterDomain: 'corp.local',
      tests: { enabled: false },
    },
  },
  'OpenShift on trial': {
    profiles: ['openshift', 'trial'],
    values: { trial: images, stores: { redis: { enabled: true } } },
  },
};

/** What is refused, and a part of the sentence that says why. */
export const refusals: Readonly<Record<string, readonly [values: object, sentence: string]>> = {
  'no keys': [{}, 'secrets.existingSecret must name a Secret with SERVICE_CLIENT_AUTH'],
  'no DATABASE_URL': [
    { secrets: { generate: true } },
    'is missing: name the Secret that has it in stores.',
  ],
  'a secret among settings': [
    { ...own, controlPlane: { settings: { MASTER_KEY: 'x' } } },
    'controlPlane.settings.MASTER_KEY is a secret and does not belong into values',
  ],
  'a secret among common settings': [
    { ...own, settings: { DATABASE_URL: 'x' } },
    'settings.DATABASE_URL is a secret',
  ],
  'a setting of the chart': [
    { ...own, gateway: { settings: { PORT: 1 } } },
    'gateway.settings.PORT is set by the chart',
  ],
  'a setting of the chart as a variable': [
    { ...own, gateway: { extraEnv: [{ name: 'PORT', value: '1' }] } },
    'gateway.extraEnv: PORT is set by the chart',
  ],
  'a setting that no service has': [
    { ...own, gateway: { settings: { LOG_LEVLE: 'info' } } },
    'LOG_LEVLE',
  ],
  'a setting of another service': [
    { ...own, dataService: { settings: { STRICT_PARAMS: true } } },
    'STRICT_PARAMS',
  ],
  'a setting of the wrong kind': [
    { ...own, gateway: { settings: { STRICT_PARAMS: 'maybe' } } },
    'STRICT_PARAMS',
  ],
  'a setting out of its bounds': [
    { ...own, gateway: { settings: { LIMIT_STORE_TIMEOUT: 5 } } },
    'LIMIT_STORE_TIMEOUT',
  ],
  'nothing behind a name that has a default': [{ ...own, networkPolicy: null }, 'networkPolicy'],
  'nothing behind a switch': [{ ...own, gateway: { persistence: { enabled: null } } }, 'enabled'],
  'a choice there is not': [{ ...own, settings: { LOG_LEVEL: 'loud' } }, 'LOG_LEVEL'],
  'a value there is not': [{ ...own, gateway: { replicaCount: 3 } }, 'replicaCount'],
  'no gateway': [{ ...own, gateway: { replicas: 0 } }, 'replicas'],
  'a grace period that cuts streams': [
    { ...own, gateway: { terminationGracePeriodSeconds: 30 } },
    'gateway.terminationGracePeriodSeconds must be 340 at least',
  ],
  'both bounds of a disruption budget': [
    { ...own, gateway: { podDisruptionBudget: { minAvailable: 1 } } },
    'takes minAvailable or maxUnavailable, not both',
  ],
  'no bound of a disruption budget': [
    { ...own, gateway: { podDisruptionBudget: { maxUnavailable: null } } },
    'gateway.podDisruptionBudget.enabled needs minAvailable or maxUnavailable',
  ],
  'an autoscaler upside down': [
    { ...own, gateway: { autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 2 } } },
    'gateway.autoscaling.maxReplicas (2) is below minReplicas (5)',
  ],
  'no nameservers': [
    { ...own, gateway: { dnsPolicy: 'None' } },
    'needs gateway.dnsConfig.nameservers',
  ],
  'no service account': [
    { ...own, dataService: { serviceAccount: { create: false } } },
    'needs dataService.serviceAccount.name',
  ],
  'one service account made twice': [
    {
      ...own,
      gateway: { serviceAccount: { name: 'ai' } },
      dataService: { serviceAccount: { name: 'ai' } },
    },
    'dataService.serviceAccount.name: ai is made by gateway already',
  ],
  'a variable without a name': [{ ...own, gateway: { extraEnv: [{ value: '1' }] } }, 'name'],
  'an issuer without a name': [
    { ...own, tls: { mode: 'certManager', certManager: { issuerRef: { kind: 'ClusterIssuer' } } } },
    'tls.certManager.issuerRef needs a name',
  ],
  'a name with a dot': [{ ...own, fullnameOverride: 'ai.gateway' }, 'ai.gateway is no name for'],
  'a name that begins with a digit': [{ ...own, fullnameOverride: '1ai' }, '1ai is no name for'],
  'an address in the place of a registry': [
    { ...own, global: { imageRegistry: 'https://mirror.example.com' } },
    'imageRegistry',
  ],
  'a port of nodes without one': [
    { ...own, gateway: { service: { nodePort: 30_080 } } },
    'gateway.service.nodePort and .externalTrafficPolicy need gateway.service.type',
  ],
  'a load balancer’s class without one': [
    { ...own, gateway: { service: { type: 'NodePort', loadBalancerClass: 'a/b' } } },
    'need gateway.service.type: LoadBalancer',
  ],
  'the port of gRPC for HTTP': [
    { ...own, gateway: { grpc: { enabled: true }, service: { port: 8789 } } },
    'gateway.service.port: 8789 is the port of callers who speak gRPC',
  ],
  'the port of MCP for HTTP': [
    { ...own, gateway: { mcpPort: { enabled: true }, service: { port: 8788 } } },
    'gateway.service.port: 8788 is the port of MCP servers',
  ],
  'an ingress for nobody': [
    { ...own, ingress: { enabled: true } },
    'ingress.enabled needs ingress.hosts',
  ],
  'a prefix that nobody takes away': [
    { ...own, ingress: { enabled: true, hosts: ['ai.example.com'], path: '/ai' } },
    'ingress.path: the gateway does not serve below /ai',
  ],
  'a route from nowhere': [
    { ...own, httpRoute: { enabled: true } },
    'httpRoute.enabled needs httpRoute.parentRefs',
  ],
  'certificates of two services': [
    { ...own, tls: { mode: 'existing', existing: { gateway: 'a', controlPlane: 'b' } } },
    'needs the names of three Secrets',
  ],
  'an object store that nobody is let out to': [
    {
      ...own,
      settings: { LOG_STORE: 's3_custom', LOG_STORE_BASEPATH: 'https://minio.stores:9000/bodies' },
    },
    'LOG_STORE_BASEPATH is at port 9000, and no NetworkPolicy lets the gateway out to it',
  ],
  'stores on trial without an image': [
    { secrets: { generate: true }, trial: { enabled: true }, migrations: { hook: false } },
    'image must name an image of',
  ],
  'a hook on trial': [
    { secrets: { generate: true }, trial: { enabled: true, ...images } },
    'trial.enabled needs migrations.hook: false',
  ],
};
