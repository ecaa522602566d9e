import { z } from 'zod';
import {
  instantField,
  instantText,
  referenceField,
  slugField,
  workspaceField,
} from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { configDocument } from '../documents/configs.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { replayedRateLimit } from '../limits/rate-limits-policies.ts';
import { replayedUsageLimit } from '../limits/usage-limits-policies.ts';

const dayMs = 86_400_000;
const daysMax = 92;
export const simulatedRequestsMax = 100_000;

const body = z
  .object({
    workspace_id: workspaceField.nullish(),
    time_of_generation_min: instantField,
    time_of_generation_max: instantField,
    requests_max: z.int().min(1).max(simulatedRequestsMax).default(simulatedRequestsMax),
    config: configDocument.optional(),
    config_slug: referenceField.optional(),
    rate_limits: z.array(replayedRateLimit).max(50).optional(),
    usage_limits: z.array(replayedUsageLimit).max(50).optional(),
    allowed_models: z
      .array(
        z.object({
          provider: slugField,
          models: z.array(z.string().min(1).max(255)).max(1000),
        }),
      )
      .max(100)
      .optional(),
  })
  .superRefine((asked, context) => {
    const fault = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    const lengthMs = Number(asked.time_of_generation_max) - Number(asked.time_of_generation_min);
    if (lengthMs <= 0) fault('time_of_generation_max', 'must be after time_of_generation_min');
    if (lengthMs > daysMax * dayMs)
      fault('time_of_generation_max', `must be ${daysMax} days later at most`);
    const { config, rate_limits, usage_limits, allowed_models } = asked;
    if ([config, rate_limits, usage_limits, allowed_models].every((part) => part === undefined))
      fault('config', 'or one of rate_limits, usage_limits and allowed_models is required');
    if (asked.config_slug !== undefined && config === undefined)
      fault('config_slug', 'says which config the one of config stands for');
  });

const share = z.number();
const nanoUsd = z.number();
const target = z.object({
  provider: z.string(),
  provider_slug: z.string().nullable(),
  ai_model: z.string(),
});

const answer = z
  .object({
    object: z.literal('simulation'),
    workspace_id: z.uuid(),
    replayed_from: instantText,
    replayed_to: instantText,
    is_complete: z.boolean(),
    stopped_by: z.enum(['requests', 'time']).nullable(),
    requests: z.object({
      replayed: z.int(),
      unchanged: share,
      rerouted: share,
      refused: share,
      undecided: share,
      outcome_unknown: share,
    }),
    cost: z.object({
      before_nano_usd: nanoUsd,
      before_at_prices_now_nano_usd: nanoUsd,
      after_nano_usd: nanoUsd,
      after_at_prices_now_nano_usd: nanoUsd,
      unpriced_requests: share,
      unpriced_before_nano_usd: nanoUsd,
    }),
    routes: z.array(
      z.object({
        from: z.array(target),
        to: z.array(target),
        requests: share,
        outcome_unknown: share,
        before_nano_usd: nanoUsd,
        after_nano_usd: nanoUsd,
        after_at_prices_now_nano_usd: nanoUsd,
        unpriced_requests: share,
      }),
    ),
    routes_left_out: z.int(),
    refusals: z.array(
      z.object({
        workspace_slug: z.string(),
        ai_model: z.string(),
        refused_by: z.string(),
        requests: share,
        before_nano_usd: nanoUsd,
      }),
    ),
    refusals_left_out: z.int(),
    undecided: z.array(
      z.object({
        reason: z.enum([
          'body_not_kept',
          'headers_not_kept',
          'metadata_types_not_kept',
          'latencies_not_kept',
          'estimates_not_kept',
          'too_many_ways',
          'answered_from_cache',
          'refused_then',
          'outcome_not_recorded',
          'config_not_known',
        ]),
        requests: share,
        before_nano_usd: nanoUsd,
      }),
    ),
    assumptions: z.array(z.string()),
  })
  .register(shapeNames, { name: 'Simulation' });

export const simulationsEndpoints = {
  'simulations.create': endpoint({
    operationId: 'simulateChange',
    summary: 'Replay a change over logged requests',
    tag: 'Simulation',
    method: 'post',
    path: '/simulate',
    access: { keys: anyKey, scopes: ['analytics.view'] },
    body,
    answer,
    errors: [400, 401, 403, 404, 500],
    added: 'replays a changed config, limits or lists of models over logged requests',
  }),
};
