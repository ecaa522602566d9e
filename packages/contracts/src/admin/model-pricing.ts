import { z } from 'zod';
import { endpoint } from './endpoint.ts';

const modelTokenPrice = z.object({
  price: z.number(),
});

const modelImagePricing = z.record(z.string(), z.record(z.string(), modelTokenPrice));

const modelPayAsYouGo = z.object({
  request_token: modelTokenPrice,
  response_token: modelTokenPrice,
  cache_write_input_token: modelTokenPrice,
  cache_read_input_token: modelTokenPrice,
  request_audio_token: modelTokenPrice,
  response_audio_token: modelTokenPrice,
  cache_read_audio_input_token: modelTokenPrice,
  additional_units: z.record(z.string(), modelTokenPrice),
  image: modelImagePricing,
});

const modelValueReference = z.object({
  value: z.string(),
});

const modelCalculateOperation = z.object({
  operation: z.enum(['sum', 'multiply']),
  operands: z.array(z.union([z.unknown(), modelValueReference])),
});

const modelCalculateConfig = z.object({
  request: modelCalculateOperation,
  response: modelCalculateOperation,
});

const modelFinetuneConfig = z.object({
  pay_per_token: modelTokenPrice,
  pay_per_hour: modelTokenPrice,
});

const modelBatchConfig = z.object({
  request_token: modelTokenPrice,
  response_token: modelTokenPrice,
  cache_read_input_token: modelTokenPrice,
});

const modelPricingConfig = z.object({
  pay_as_you_go: modelPayAsYouGo,
  calculate: modelCalculateConfig,
  currency: z.literal('USD'),
  finetune_config: modelFinetuneConfig,
  batch_config: modelBatchConfig,
});

const modelGeneralConfig = z.object({
  params: z.array(
    z.looseObject({
      key: z.string(),
      defaultValue: z.unknown(),
      minValue: z.number(),
      maxValue: z.number(),
      type: z.string(),
      options: z.array(
        z.object({
          value: z.unknown(),
          name: z.string(),
        }),
      ),
    }),
  ),
  type: z.object({
    primary: z.string(),
    supported: z.array(z.string()),
  }),
  messages: z.object({
    options: z.array(z.string()),
  }),
  removeParams: z.array(z.string()),
  disablePlayground: z.boolean(),
  isDefault: z.boolean(),
});

export const modelPricingEndpoints = {
  'model-pricing.read': endpoint({
    operationId: 'getModelPricing',
    tag: 'Model Pricing',
    errorForm: 'text',
    method: 'get',
    path: '/model-configs/pricing/{provider}/{model}',
    atRoot: true,
    plane: 'public',
    answer: modelPricingConfig,
    errors: [404],
  }),
  'model-settings.read': endpoint({
    operationId: 'getModelGeneralConfig',
    tag: 'Model Pricing',
    errorForm: 'text',
    method: 'get',
    path: '/model-configs/general/{provider}/{model}',
    atRoot: true,
    plane: 'public',
    answer: modelGeneralConfig,
    errors: [404],
  }),
};
