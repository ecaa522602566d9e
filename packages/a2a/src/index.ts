/**
 * What agents and their callers say to each other, read and rewritten: A2A of
 * 0.3 and 1.0, and usage however it is reported. Pure; `card-behind-gateway.ts`
 * and `agent-request.ts` are where to start.
 */
export { checkRemainder, joinAgentPath, PathFault } from './agent-path.ts';
export { readAgentReply, type Told, ToldSoFar } from './agent-reply.ts';
export { type AgentRequest, type Callback, readAgentRequest } from './agent-request.ts';
export {
  type AgentCard,
  CardFault,
  type CardSkill,
  cardBytesMax,
  isCard,
  readCard,
  skillsOf,
} from './card.ts';
export { cardBehindGateway, type GatewayFace } from './card-behind-gateway.ts';
export { entriesOf, folded, isObject, textIn } from './fold.ts';
export type { MethodKind } from './methods.ts';
export { errorInfo, type RpcError, rpcCodes, taskNotFound } from './rpc-error.ts';
export { SealedAddresses } from './sealed-address.ts';
export {
  type AgentUsage,
  highestUsage,
  increaseOf,
  readUsage,
  usageInMetadata,
} from './usage.ts';
