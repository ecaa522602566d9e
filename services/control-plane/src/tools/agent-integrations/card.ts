import type { AgentCard } from '@sluice/contracts/admin';
import { isObject } from '../../kernel/http/json-object.ts';
import type { Offer } from '../registry/offers-store.ts';

/** Skills have no types; the tables of both registries do. */
export const skillType = 'skill';

/** What the card offers, each skill by its id. */
export function skillsOf(card: AgentCard | null): Offer[] {
  const skills = Array.isArray(card?.skills) ? card.skills : [];
  const found = new Map<string, Offer>();
  for (const skill of skills) {
    if (!isObject(skill) || typeof skill.id !== 'string') continue;
    if (skill.id === '' || skill.id.length > 1024) continue;
    found.set(skill.id, { type: skillType, name: skill.id, detail: skill });
  }
  return [...found.values()];
}

/** What of a card is different behind the gateway. */
export interface GatewayFace {
  /** Where the agent was registered, and what callers use in its place. */
  registeredUrl: string;
  gatewayUrl: string;
  isSkillEnabled: (id: string) => boolean;
}

/**
 * The card as callers get it: every address leads through the gateway, or is
 * left out, as one that does not would lead around keys, limits and logs. What
 * the agent wants as a credential is the gateway's to bring; a signature does
 * not survive the change.
 */
export function cardBehindGateway(card: AgentCard, face: GatewayFace): AgentCard {
  const { signatures, security, securitySchemes, securityRequirements, ...rest } = card;
  const skills = Array.isArray(card.skills)
    ? card.skills.filter((skill) => !isObject(skill) || face.isSkillEnabled(String(skill.id)))
    : undefined;
  return {
    ...rest,
    url: gatewayAddress(card.url, face) ?? face.gatewayUrl,
    ...interfaces(card, 'additionalInterfaces', face),
    ...interfaces(card, 'supportedInterfaces', face),
    ...(skills === undefined ? {} : { skills }),
    securitySchemes: {
      gateway: { type: 'apiKey', in: 'header', name: 'x-service-api-key' },
    },
    security: [{ gateway: [] }],
  };
}

/** The other addresses of an agent. What is no HTTP, the gateway does not carry. */
function interfaces(
  card: AgentCard,
  field: 'additionalInterfaces' | 'supportedInterfaces',
  face: GatewayFace,
) {
  const listed: unknown = card[field];
  if (!Array.isArray(listed)) return {};
  return {
    [field]: listed.flatMap((entry) => {
      if (!isObject(entry) || typeof entry.url !== 'string') return [];
      if ([entry.transport, entry.protocolBinding].includes('GRPC')) return [];
      const url = gatewayAddress(entry.url, face);
      return url === undefined ? [] : [{ ...entry, url }];
    }),
  };
}

/** The same place below the gateway's address; undefined when it is not below the registered one. */
function gatewayAddress(address: string, { registeredUrl, gatewayUrl }: GatewayFace) {
  if (!URL.canParse(address, registeredUrl)) return undefined;
  const [url, base] = [new URL(address, registeredUrl), new URL(registeredUrl)];
  const root = base.pathname.replace(/\/+$/, '');
  const isBelow =
    url.origin === base.origin && (url.pathname === root || url.pathname.startsWith(`${root}/`));
  if (!isBelow) return undefined;
  return `${gatewayUrl}${url.pathname.slice(root.length).replace(/^\/+/, '')}${url.search}`;
}
