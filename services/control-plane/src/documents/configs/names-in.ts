import type { ConfigNode } from '@sluice/contracts';

/** A saved provider (without its `@`), an entry of the catalogue, or a prompt, with its place in the document. */
export interface NamedThing {
  readonly kind: 'provider' | 'catalogue' | 'prompt';
  readonly name: string;
  /** Of a prompt, what follows its `@`. */
  readonly version?: string;
  /** `config.targets[0].provider` */
  readonly path: string;
}

/** What a document itself names beside configs and guardrails, which are found when it is compiled. */
export function namesIn(root: ConfigNode): NamedThing[] {
  const found: NamedThing[] = [];
  const waiting: { node: ConfigNode; path: string }[] = [{ node: root, path: 'config' }];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { node, path } = next;
    found.push(...namesOf(node, path));
    for (const [index, target] of (node.targets ?? []).entries())
      waiting.push({ node: target, path: `${path}.targets[${index}]` });
  }
  return found;
}

function namesOf(node: ConfigNode, path: string): NamedThing[] {
  const { provider, virtual_key: virtualKey, prompt_id: prompt, cache } = node;
  const embedding = cache?.embedding?.provider;
  return [
    ...(provider === undefined ? [] : [providerIn(provider, `${path}.provider`)]),
    ...(virtualKey === undefined
      ? []
      : [providerIn(`@${virtualKey.replace(/^@/, '')}`, `${path}.virtual_key`)]),
    ...(embedding === undefined ? [] : [providerIn(embedding, `${path}.cache.embedding.provider`)]),
    ...modelIn(node.override_params, `${path}.override_params.model`),
    ...modelIn(node.default_params, `${path}.default_params.model`),
    ...(prompt === undefined ? [] : [promptIn(prompt, `${path}.prompt_id`)]),
  ];
}

/** `@slug`, `@slug/model`, or an id of the catalogue. */
function providerIn(reference: string, path: string): NamedThing {
  if (!reference.startsWith('@')) return { kind: 'catalogue', name: reference, path };
  return { kind: 'provider', name: reference.slice(1).split('/', 1)[0] ?? '', path };
}

/** A model says who serves it when it is written `@slug/model`. */
function modelIn(params: ConfigNode['override_params'], path: string): NamedThing[] {
  const model = params?.model;
  return typeof model === 'string' && /^@[^/]+\//.test(model) ? [providerIn(model, path)] : [];
}

/** `slug` or UUID, alone or with `@` and a version. */
function promptIn(reference: string, path: string): NamedThing {
  const [name = '', ...version] = reference.split('@');
  return { kind: 'prompt', name, path, ...(version.length > 0 && { version: version.join('@') }) };
}
