import { z } from 'zod';
import { toolPriceMax } from './tool-price-max.ts';

/**
 * What admins set for the calls of MCP servers, beside switches and user access.
 * The admin API takes it, and gateways are sent it as `McpServer.policy_json`.
 */

const capabilityType = z.enum(['tool', 'prompt', 'resource', 'resource_template']);

/** `*` stands for any text, `?` for one character. Of resources the URI is meant. */
const namePattern = z.string().min(1).max(512);

/** A pattern alone is one for every type. */
const capabilityPattern = z
  .union([namePattern, z.strictObject({ type: capabilityType.optional(), name: namePattern })])
  .transform((pattern) => (typeof pattern === 'string' ? { name: pattern } : pattern));

const accessRule = z.strictObject({
  effect: z.enum(['allow', 'deny']),
  query: z.record(z.string().max(256), z.unknown()),
});
/** The first rule whose query matches decides; fields are those of `ToolFacts` in packages/engine. */
export type ToolAccessRule = z.output<typeof accessRule>;

const toolAccess = z.strictObject({
  allow: z.array(capabilityPattern).max(1000).optional(),
  deny: z.array(capabilityPattern).max(1000).optional(),
  rules: z.array(accessRule).max(100).optional(),
});
/**
 * What `deny` names is denied; with `allow`, what that does not name as well; then
 * the first rule that matches decides; of what no rule matches nothing is said.
 */
export type ToolAccess = z.output<typeof toolAccess>;

/** Ms. */
const timeout = z.int().min(1).max(3_600_000);

/** Saved guardrails of the workspace or its organisation: slug, id, or one version of it, `pg-name@3`. */
const guardrailNames = z.array(z.string().min(1).max(200)).max(20);

export const toolPolicy = z.strictObject({
  access: toolAccess.optional(),
  denied_as: z.enum(['disabled', 'unknown']).optional(),
  request_timeout: timeout.optional(),
  request_timeout_max: timeout.optional(),
  max_result_bytes: z
    .int()
    .min(1024)
    .max(64 * 1024 * 1024)
    .optional(),
  input_guardrails: guardrailNames.optional(),
  output_guardrails: guardrailNames.optional(),
  guardrail_denied_as: z.enum(['result', 'error']).optional(),
});
export type ToolPolicy = z.output<typeof toolPolicy>;

/** US cents, as everywhere in the admin API. */
const price = z.strictObject({
  call: z.number().min(0).max(toolPriceMax.call).optional(),
  token: z.number().min(0).max(toolPriceMax.token).optional(),
});
export type ToolPrice = z.output<typeof price>;
/** What a message of an agent costs, and a token that it reports. */
export const agentPrices = price;

/** What calls of an integration cost; what a tool says of itself goes before what is said of all. */
export const toolPrices = price.extend({
  tools: z
    .record(z.string().min(1).max(1024), price)
    .refine((tools) => Object.keys(tools).length <= 1000, 'may hold 1000 entries at most')
    .optional(),
});
export type ToolPrices = z.output<typeof toolPrices>;

/** As in `McpServer.policy_json`: both levels of access and of guardrails hold; of all else the server's word counts. */
export interface SentToolPolicy extends Omit<ToolPolicy, 'access'> {
  /** Of the integration, then of the server; each must allow. */
  readonly access?: readonly ToolAccess[];
  readonly prices?: ToolPrices;
}
