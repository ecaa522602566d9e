import type { AgentCard } from './card.ts';
import { folded, isObject, type JsonObject, membersOf } from './fold.ts';
import {
  addressThroughGateway,
  bindingOf,
  interfacesThroughGateway,
  type Place,
} from './interfaces.ts';

/** What of a card is different behind the gateway. */
export interface GatewayFace extends Place {
  readonly isSkillEnabled: (id: string) => boolean;
  /** Whether agents may call back. */
  readonly allowsPush: boolean;
  /** The header that carries the caller's key. */
  readonly keyHeader: string;
}

/**
 * The card as callers get it, of whichever generation it is, or of both at once.
 * Every address leads through the gateway, or is left out, as one that does not
 * would lead around keys, limits and logs. What the agent wants as a credential
 * is the gateway's to bring; a signature does not survive the change. What is not
 * known here stays as it is.
 */
export function cardBehindGateway(card: AgentCard, face: GatewayFace): AgentCard {
  const isOfV1 = membersOf(card, 'supportedinterfaces').length > 0;
  const isOfV0 =
    !isOfV1 || membersOf(card, 'url', 'additionalinterfaces', 'preferredtransport').length > 0;
  const kept = Object.entries(card).flatMap(([name, value]) => member(name, value, face));
  return Object.fromEntries([
    ...kept,
    ...(isOfV0 ? mainInterface(card, face) : []),
    ...securityMembers(isOfV0, isOfV1, face.keyHeader),
  ]);
}

function member(name: string, value: unknown, face: GatewayFace): [string, unknown][] {
  switch (folded(name)) {
    case 'signatures':
    case 'signature':
    case 'security':
    case 'securityschemes':
    case 'securityrequirements':
    // Again below.
    case 'url':
    case 'preferredtransport':
      return [];
    case 'supportedinterfaces':
    case 'additionalinterfaces':
      return [[name, interfacesThroughGateway(value, face)]];
    case 'skills':
      return [[name, skills(value, face)]];
    case 'capabilities':
      return [[name, capabilities(value, face)]];
    case 'provider':
      return [[name, isObject(value) ? withoutOddAddress(value) : value]];
    case 'iconurl':
    case 'documentationurl':
      return isWebAddress(value) ? [[name, value]] : [];
    default:
      return [[name, value]];
  }
}

/** The address that clients of 0.3 begin with; the first other one where that cannot be had. */
function mainInterface(card: AgentCard, face: GatewayFace): [string, unknown][] {
  const [main] = membersOf(card, 'url');
  const url = bindingOf(card) === 'GRPC' ? undefined : addressThroughGateway(main, face);
  const preferred = membersOf(card, 'preferredtransport');
  if (url !== undefined)
    return [
      ['url', url],
      ...(preferred.length === 0
        ? []
        : [['preferredTransport', preferred[0]] as [string, unknown]]),
    ];
  const [other] = interfacesThroughGateway(membersOf(card, 'additionalinterfaces')[0], face);
  if (other === undefined) return [['url', face.gatewayUrl]];
  return [
    ['url', other.url],
    ['preferredTransport', other.transport ?? other.protocolBinding],
  ];
}

function skills(value: unknown, { isSkillEnabled }: GatewayFace): unknown {
  if (!Array.isArray(value)) return [];
  return value.flatMap((skill) => {
    if (!isObject(skill) || !isSkillEnabled(String(skill.id))) return [];
    const kept = Object.entries(skill).filter(
      ([name]) => !['security', 'securityrequirements'].includes(folded(name)),
    );
    return [Object.fromEntries(kept)];
  });
}

function capabilities(value: unknown, { allowsPush }: GatewayFace): unknown {
  if (!isObject(value) || allowsPush) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      folded(name) === 'pushnotifications' ? false : one,
    ]),
  );
}

function withoutOddAddress(provider: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(provider).filter(
      ([name, value]) => folded(name) !== 'url' || isWebAddress(value),
    ),
  );
}

/** What a page may make a link of: a script in its place would run there. */
function isWebAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\//i.test(value);
}

/** In the words of each generation; a card of both has schemes that both can read. */
function securityMembers(isOfV0: boolean, isOfV1: boolean, keyHeader: string): [string, unknown][] {
  const key = {
    ...(isOfV0 ? { type: 'apiKey', in: 'header', name: keyHeader } : {}),
    ...(isOfV1 ? { apiKeySecurityScheme: { location: 'header', name: keyHeader } } : {}),
  };
  const bearer = {
    ...(isOfV0 ? { type: 'http', scheme: 'bearer' } : {}),
    ...(isOfV1 ? { httpAuthSecurityScheme: { scheme: 'Bearer' } } : {}),
  };
  return [
    ['securitySchemes', { gateway: key, bearer }],
    ...(isOfV0 ? [['security', [{ gateway: [] }, { bearer: [] }]] as [string, unknown]] : []),
    ...(isOfV1
      ? [
          [
            'securityRequirements',
            [{ schemes: { gateway: { list: [] } } }, { schemes: { bearer: { list: [] } } }],
          ] as [string, unknown],
        ]
      : []),
  ];
}
