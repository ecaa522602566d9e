import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';

/** A Secret as far as this knows it; values are base64. */
export interface KubernetesSecret {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export interface SecretsApi {
  /** Undefined = there is none. */
  read(name: string): Promise<KubernetesSecret | undefined>;
  /** False = somebody else made it first. */
  create(secret: KubernetesSecret): Promise<boolean>;
  /** Sets these keys and leaves all others as they are. */
  patch(name: string, data: Readonly<Record<string, string>>): Promise<void>;
}

/** What a pod finds out about its cluster. */
export interface ClusterPlace {
  readonly host: string;
  readonly port: string;
  readonly namespace: string;
  readonly token: string;
  readonly ca: string;
}

/** Where Kubernetes puts a service account's token. */
const accountDir = '/var/run/secrets/kubernetes.io/serviceaccount';
const timeoutMs = 15_000;
const answerBytesMax = 4 * 1024 * 1024;

/** @throws Error when this is no pod with a service account */
export function clusterPlace(env: NodeJS.ProcessEnv, dir: string = accountDir): ClusterPlace {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (host === undefined)
    throw new Error('KUBERNETES_SERVICE_HOST is not set: this runs in a pod only.');
  const read = (name: string) => readFileSync(join(dir, name), 'utf8');
  try {
    return {
      host,
      port,
      namespace: read('namespace').trim(),
      token: read('token').trim(),
      ca: read('ca.crt'),
    };
  } catch (cause) {
    throw new Error(`The pod has no token of a service account in ${dir}.`, { cause });
  }
}

/** Secrets of the pod's own namespace. */
export function secretsApi(place: ClusterPlace): SecretsApi {
  const base = `/api/v1/namespaces/${encodeURIComponent(place.namespace)}/secrets`;
  return {
    async read(name) {
      const { status, body } = await call(place, 'GET', `${base}/${name}`);
      if (status === 404) return undefined;
      return checked(status, body, `read Secret ${name}`);
    },
    async create(secret) {
      const { status, body } = await call(place, 'POST', base, {
        apiVersion: 'v1',
        kind: 'Secret',
        ...secret,
      });
      if (status === 409) return false;
      checked(status, body, `create Secret ${secret.metadata.name}`);
      return true;
    },
    async patch(name, data) {
      const { status, body } = await call(place, 'PATCH', `${base}/${name}`, { data });
      checked(status, body, `change Secret ${name}`);
    },
  };
}

/** @throws Error with Kubernetes' own sentence, which tells what the account may not do */
function checked(status: number, body: string, what: string): KubernetesSecret {
  const answer = JSON.parse(body) as KubernetesSecret & { message?: string };
  if (status >= 300) throw new Error(`Kubernetes did not ${what}: ${status} ${answer.message}`);
  return answer;
}

function call(
  place: ClusterPlace,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: place.host,
        port: place.port,
        ca: place.ca,
        method,
        path,
        timeout: timeoutMs,
        headers: {
          authorization: `Bearer ${place.token}`,
          accept: 'application/json',
          ...(body === undefined
            ? {}
            : {
                'content-type':
                  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
              }),
        },
      },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (piece: string) => {
          text += piece;
          if (text.length > answerBytesMax) answer.destroy(new Error('the answer is too large'));
        });
        answer.on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text }));
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('Kubernetes does not answer')));
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
