import { z } from 'zod';
import { shapeNames } from '../../fields/shape-names.ts';
import { openEndpoint } from '../kernel/endpoint.ts';

/** US cents for one token or one unit. */
const price = z.object({ price: z.number() });
const optionalPrice = price.optional();

/** What has no price of its own is left out: it costs what the plain input or output costs. */
const tokenPrices = z.object({
  request_token: optionalPrice,
  response_token: optionalPrice,
  cache_write_input_token: optionalPrice,
  cache_read_input_token: optionalPrice,
  cache_read_audio_input_token: optionalPrice,
  request_audio_token: optionalPrice,
  response_audio_token: optionalPrice,
  /** Ours: named as in operators' price files. */
  request_image_token: optionalPrice,
  response_image_token: optionalPrice,
  cache_read_image_input_token: optionalPrice,
  reasoning_token: optionalPrice,
  additional_units: z.record(z.string(), price).optional(),
});

const contextTier = tokenPrices.extend({ above_input_tokens: z.int() });
const servicePrices = tokenPrices.extend({ context_tiers: z.array(contextTier).optional() });

const operation = z.enum(['sum', 'multiply']);
const value = z.object({ value: z.string() });

/** How counts and prices make a cost: as deep as the published form needs, no deeper. */
const formula = z.object({
  operation,
  operands: z.array(z.union([z.object({ operation, operands: z.array(value) }), value])),
});

const modelPrices = z
  .object({
    pay_as_you_go: tokenPrices.extend({
      image: z.record(z.string(), z.record(z.string(), price)).optional(),
    }),
    calculate: z.object({ request: formula, response: formula }).optional(),
    currency: z.literal('USD'),
    finetune_config: z
      .object({ pay_per_token: optionalPrice, pay_per_hour: optionalPrice })
      .optional(),
    batch_config: z
      .object({
        request_token: optionalPrice,
        response_token: optionalPrice,
        cache_read_input_token: optionalPrice,
        cache_write_input_token: optionalPrice,
      })
      .optional(),
    /** Ours: a whole request costs these when its input, caches included, is larger. */
    context_tiers: z.array(contextTier).optional(),
    /** Ours: who says these prices, and in which state they are. */
    price_layer: z.enum(['file', 'catalogue']),
    price_book_version: z.string(),
    /** Ours: what tokens cost where a call is served otherwise than as standard. */
    service_tiers: z.record(z.string(), servicePrices).optional(),
    /** Ours: the same in places that have prices of their own. */
    regions: z
      .array(
        z.object({
          regions: z.array(z.string()),
          service_tiers: z.record(z.string(), servicePrices),
        }),
      )
      .optional(),
  })
  .register(shapeNames, { name: 'ModelPrices' });

const modelSettings = z
  .object({
    params: z
      .array(
        z.looseObject({
          key: z.string(),
          defaultValue: z.unknown(),
          minValue: z.number().optional(),
          maxValue: z.number().optional(),
          type: z.string().optional(),
          options: z.array(z.object({ value: z.unknown(), name: z.string() })).optional(),
        }),
      )
      .optional(),
    type: z.object({ primary: z.string(), supported: z.array(z.string()) }).optional(),
    messages: z.object({ options: z.array(z.string()) }).optional(),
    removeParams: z.array(z.string()).optional(),
    disablePlayground: z.boolean().optional(),
    isDefault: z.boolean(),
  })
  .register(shapeNames, { name: 'ModelSettings' });

export const modelPricingEndpoints = {
  'model-pricing.read': openEndpoint({
    operationId: 'getModelPricing',
    summary: 'Show the price of a model',
    tag: 'Model Pricing',
    errorForm: 'text',
    method: 'get',
    path: '/model-configs/pricing/{provider}/{model}',
    atRoot: true,
    plane: 'public',
    answer: modelPrices,
    errors: [404],
  }),
  'model-settings.read': openEndpoint({
    operationId: 'getModelGeneralConfig',
    summary: 'Show what a model takes and how it is called',
    tag: 'Model Pricing',
    errorForm: 'text',
    method: 'get',
    path: '/model-configs/general/{provider}/{model}',
    atRoot: true,
    plane: 'public',
    answer: modelSettings,
    errors: [404],
  }),
};
