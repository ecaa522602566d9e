import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'yaml';
import { readProtobuf } from './api-protobuf.ts';
import type { KubernetesObject } from './render.ts';
import { schemaFaults } from './validate.ts';

/**
 * A stand-in for Kubernetes' API server, as far as Helm asks one: it keeps
 * objects, refuses what the schemas refuse, and says of every workload that it
 * is done or ready at once. It runs nothing.
 */
export interface ApiServer {
  readonly url: string;
  /** What is there, without what Helm keeps for itself. */
  objects(): KubernetesObject[];
  close(): Promise<void>;
}

type Stored = KubernetesObject & { metadata: { resourceVersion: string } };

/** The kinds that the chart makes, and what Helm asks for besides. */
const kinds: readonly (readonly [apiVersion: string, kind: string, plural: string])[] = [
  ['v1', 'ConfigMap', 'configmaps'],
  ['v1', 'Namespace', 'namespaces'],
  ['v1', 'Pod', 'pods'],
  ['v1', 'Secret', 'secrets'],
  ['v1', 'Service', 'services'],
  ['v1', 'ServiceAccount', 'serviceaccounts'],
  ['apps/v1', 'Deployment', 'deployments'],
  ['apps/v1', 'ReplicaSet', 'replicasets'],
  ['apps/v1', 'StatefulSet', 'statefulsets'],
  ['autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers'],
  ['batch/v1', 'CronJob', 'cronjobs'],
  ['batch/v1', 'Job', 'jobs'],
  ['networking.k8s.io/v1', 'Ingress', 'ingresses'],
  ['networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'],
  ['policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'],
  ['rbac.authorization.k8s.io/v1', 'Role', 'roles'],
  ['rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings'],
];

const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const isNamespaced = (kind: string) => kind !== 'Namespace';

export async function startApiServer(): Promise<ApiServer> {
  const store = new Map<string, Stored>();
  const watchers = new Set<(type: string, path: string, object: Stored) => void>();
  let version = 0;

  /** Puts it there, ready, and tells who watches. */
  function put(path: string, object: KubernetesObject): Stored {
    const before = store.get(path);
    version += 1;
    const stored = {
      ...withStatus(object),
      metadata: {
        ...object.metadata,
        uid: before?.metadata['uid' as never] ?? randomUUID(),
        creationTimestamp:
          before?.metadata['creationTimestamp' as never] ?? new Date().toISOString(),
        resourceVersion: String(version),
        generation: version,
      },
    } as Stored;
    store.set(path, stored);
    for (const tell of watchers) tell(before === undefined ? 'ADDED' : 'MODIFIED', path, stored);
    return stored;
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://api');
    const discovered = discovery(pathname) ?? openApi(pathname);
    if (discovered !== undefined) return send(res, 200, discovered);
    const place = placeOf(pathname);
    if (place === undefined) return fail(res, 404, 'NotFound', `there is no ${pathname}`);
    const { apiVersion, kind, collection, name } = place;
    if (name === undefined && req.method === 'GET') {
      const items = () => listed(store, apiVersion, kind, collection, searchParams);
      if (searchParams.get('watch') === null)
        return send(res, 200, {
          kind: `${kind}List`,
          apiVersion,
          metadata: { resourceVersion: String(version) },
          items: items(),
        });
      return watch(res, items(), place, searchParams);
    }
    const path = `${collection}/${name}`;
    const there = store.get(path);
    if (req.method === 'GET' || req.method === 'DELETE') {
      if (there === undefined) return fail(res, 404, 'NotFound', `${kind} ${name} not found`);
      if (req.method === 'DELETE') {
        store.delete(path);
        for (const tell of watchers) tell('DELETED', path, there);
      }
      return send(res, 200, there);
    }
    const sent = await readObject(req);
    const own = { ...sent, apiVersion, kind } as KubernetesObject;
    if (req.method === 'POST') {
      const created = `${collection}/${own.metadata.name}`;
      if (store.has(created)) return fail(res, 409, 'AlreadyExists', `${created} already exists`);
      return write(res, 201, created, own);
    }
    const isApplied = /apply-patch/.test(req.headers['content-type'] ?? '');
    if (there === undefined && !isApplied) return fail(res, 404, 'NotFound', `${path} not found`);
    const next = req.method === 'PUT' || isApplied ? own : (merged(there, own) as KubernetesObject);
    return write(res, 200, path, next);
  }

  async function write(
    res: ServerResponse,
    status: number,
    path: string,
    object: KubernetesObject,
  ) {
    const { managedFields: _, ...metadata } = object.metadata as Record<string, unknown>;
    const plain = { ...object, metadata } as unknown as KubernetesObject;
    const faults = object.kind === 'Secret' ? [] : await schemaFaults([plain]);
    if (faults.length > 0) return fail(res, 422, 'Invalid', faults.join('; '));
    send(res, status, put(path, plain));
  }

  function watch(res: ServerResponse, items: Stored[], place: Place, query: URLSearchParams) {
    res.writeHead(200, { 'content-type': 'application/json' });
    const tell = (type: string, object: object) =>
      res.write(`${JSON.stringify({ type, object })}\n`);
    for (const item of items) tell('ADDED', item);
    if (query.get('sendInitialEvents') === 'true')
      tell('BOOKMARK', {
        apiVersion: place.apiVersion,
        kind: place.kind,
        metadata: {
          resourceVersion: String(version),
          annotations: { 'k8s.io/initial-events-end': 'true' },
        },
      });
    const watcher = (type: string, path: string, object: Stored) => {
      if (path.startsWith(`${place.collection}/`)) tell(type, object);
    };
    watchers.add(watcher);
    res.on('close', () => watchers.delete(watcher));
  }

  const server = createServer((req, res) => {
    answer(req, res).catch((error: Error) => fail(res, 500, 'InternalError', error.message));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects: () =>
      [...store.values()].filter(
        ({ kind, metadata }) => !(kind === 'Secret' && metadata.name.startsWith('sh.helm.')),
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Place {
  readonly apiVersion: string;
  readonly kind: string;
  /** With the namespace, where there is one. */
  readonly collection: string;
  readonly name: string | undefined;
}

function placeOf(pathname: string): Place | undefined {
  const match =
    /^\/(?:api|apis)\/((?:[^/]+\.?[^/]*\/)?v[^/]+)\/(?:namespaces\/([^/]+)\/)?([a-z]+)(?:\/([^/]+))?(?:\/status)?$/.exec(
      pathname,
    );
  const [, apiVersion = '', namespace = '', plural = '', name] = match ?? [];
  const found = kinds.find((each) => each[0] === apiVersion && each[2] === plural);
  if (found === undefined) return undefined;
  return { apiVersion, kind: found[1], collection: `${apiVersion}/${namespace}/${plural}`, name };
}

function discovery(pathname: string): object | undefined {
  if (pathname === '/version') return { major: '1', minor: '34', gitVersion: 'v1.34.0' };
  if (pathname === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  const groupVersions = [...new Set(kinds.map(([apiVersion]) => apiVersion))];
  if (pathname === '/apis')
    return {
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: groupVersions
        .filter((each) => each !== 'v1')
        .map((groupVersion) => {
          const [name, version] = groupVersion.split('/');
          const preferred = { groupVersion, version };
          return { name, versions: [preferred], preferredVersion: preferred };
        }),
    };
  const groupVersion = groupVersions.find((each) => /^\/apis?\/(.*)$/.exec(pathname)?.[1] === each);
  if (groupVersion === undefined) return undefined;
  const resources = kinds
    .filter(([apiVersion]) => apiVersion === groupVersion)
    .map(([, kind, name]) => ({
      name,
      kind,
      verbs,
      namespaced: isNamespaced(kind),
      singularName: '',
    }));
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}

/** As much of it as says that this server looks into what it gets (`fieldValidation`), so that Helm need not. */
function openApi(pathname: string): object | undefined {
  const groupVersions = [...new Set(kinds.map(([apiVersion]) => apiVersion))];
  const folderOf = (apiVersion: string) => (apiVersion === 'v1' ? 'api/v1' : `apis/${apiVersion}`);
  if (pathname === '/openapi/v3')
    return {
      paths: Object.fromEntries(
        groupVersions.map((each) => [
          folderOf(each),
          { serverRelativeURL: `/openapi/v3/${folderOf(each)}` },
        ]),
      ),
    };
  const wanted = groupVersions.find((each) => pathname === `/openapi/v3/${folderOf(each)}`);
  if (wanted === undefined) return undefined;
  const [version = '', group = ''] = wanted.split('/').reverse();
  const paths = kinds
    .filter(([apiVersion]) => apiVersion === wanted)
    .map(([, kind, plural]) => [
      `/${folderOf(wanted)}/namespaces/{namespace}/${plural}/{name}`,
      {
        patch: {
          'x-kubernetes-action': 'patch',
          'x-kubernetes-group-version-kind': { group, version, kind },
          parameters: [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }],
          responses: { 200: { description: 'OK' } },
        },
      },
    ]);
  const info = { title: 'stand-in', version: '1' };
  return { openapi: '3.0.0', info, paths: Object.fromEntries(paths) };
}

function listed(
  store: ReadonlyMap<string, Stored>,
  apiVersion: string,
  kind: string,
  collection: string,
  query: URLSearchParams,
): Stored[] {
  const wanted = (query.get('labelSelector') ?? '').split(',').filter((each) => each !== '');
  const name = /^metadata\.name=(.*)$/.exec(query.get('fieldSelector') ?? '')?.[1];
  return [...store]
    .filter(([path, object]) => path.startsWith(`${collection}/`) && object.kind === kind)
    .map(([, object]) => ({ ...object, apiVersion, kind }) as Stored)
    .filter(({ metadata }) => name === undefined || metadata.name === name)
    .filter(({ metadata }) =>
      wanted.every((each) => {
        const [key = '', value] = each.split(/!?==?/);
        return (metadata.labels?.[key] === value) !== each.includes('!=');
      }),
    );
}

/** As its controllers would say, had they done all that there is to do. */
function withStatus(object: KubernetesObject): KubernetesObject {
  const now = new Date().toISOString();
  const replicas = object.spec?.replicas ?? 1;
  const done = (type: string) => ({ type, status: 'True', lastTransitionTime: now });
  const ready = { replicas, readyReplicas: replicas, updatedReplicas: replicas };
  switch (object.kind) {
    case 'Job':
      return { ...object, status: { succeeded: 1, conditions: [done('Complete')] } };
    case 'Pod':
      return { ...object, status: { phase: 'Succeeded' } };
    case 'Deployment':
      return {
        ...object,
        status: { ...ready, availableReplicas: replicas, conditions: [done('Available')] },
      };
    case 'StatefulSet':
      return { ...object, status: { ...ready, currentReplicas: replicas } };
    default:
      return object;
  }
}

/** A merge patch; lists are replaced, which is enough for what this keeps. */
function merged(base: unknown, patch: unknown): unknown {
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(base) ? { ...base } : {};
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete result[key];
    else if (!key.startsWith('$')) result[key] = merged(result[key], value);
  return result;
}

async function readObject(req: IncomingMessage): Promise<object> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  // Helm 4 sends what it keeps in Secrets as protobuf.
  if (body.subarray(0, 4).toString('latin1') === 'k8s\0') return readProtobuf(body.subarray(4));
  return parse(body.toString('utf8')) as object;
}

function send(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
}

function fail(res: ServerResponse, code: number, reason: string, message: string): void {
  send(res, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message });
}
