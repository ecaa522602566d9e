import { createHash } from 'node:crypto';
import {
  type AgentCard,
  cardBehindGateway,
  type GatewayFace,
  type SealedAddresses,
} from '@sluice/a2a';
import { agentServerUrl } from '@sluice/contracts';
import type { CompiledAgentServer } from '../compiled/agent-servers.ts';
import type { BodyReply } from '../exchange/reply.ts';
import type { AgentPlan } from './agent-plan.ts';

/** A server as callers are shown it. */
export function faceOf(
  { source, skillsOff }: CompiledAgentServer,
  { pushes }: AgentPlan,
  base: string,
  sealed: SealedAddresses,
  keyHeader: string,
): GatewayFace {
  return {
    registeredUrl: source.url,
    gatewayUrl: agentServerUrl(base, source.slug),
    subPathOf: (address) => sealed.seal(source.id, address),
    isSkillEnabled: (id) => !skillsOff.has(id),
    allowsPush: pushes !== undefined,
    keyHeader,
  };
}

/** The card as an answer of ours: what it is made of differs by caller and by version. */
export function cardReply(
  card: AgentCard,
  face: GatewayFace,
  ifNoneMatch: string | undefined,
): BodyReply {
  const body = Buffer.from(JSON.stringify(cardBehindGateway(card, face)));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
  const headers = {
    etag,
    'cache-control': 'private, no-cache',
    vary: `A2A-Version, Authorization, ${face.keyHeader}`,
  };
  const isKnown = ifNoneMatch
    ?.split(',')
    .some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*');
  if (isKnown === true) return { kind: 'body', status: 304, headers, body: Buffer.alloc(0) };
  return {
    kind: 'body',
    status: 200,
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  };
}
