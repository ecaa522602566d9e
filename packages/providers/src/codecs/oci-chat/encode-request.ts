import type { ChatRequest, JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { ReadSetting } from '../../call-facts.ts';
import type { CallContext, EncodedRequest } from '../../contract.ts';
import { fitCacheMarks, noCacheMarks } from '../fit-cache-marks.ts';
import { encodeCohere } from './encode-cohere.ts';
import { encodeGeneric } from './encode-generic.ts';

/** Model → wire: where the model is, and what it is asked. */
export function encodeRequest(
  asked: ChatRequest,
  context: CallContext,
): EncodedRequest & { body: JsonObject } {
  const { setting } = context;
  const dropped: string[] = [];
  const request = fitCacheMarks(asked, noCacheMarks, dropped);
  const chatRequest =
    apiFormat(request.model, setting) === 'COHERE'
      ? encodeCohere(request, dropped)
      : encodeGeneric(request, dropped);
  const body: JsonObject = {
    compartmentId: compartment(setting),
    servingMode: servingMode(request.model, setting),
    chatRequest,
  };
  return { body, dropped };
}

/** The root compartment has the id of its tenancy. */
function compartment(setting: ReadSetting): string {
  const id = setting('oracle-compartment-id') ?? setting('oracle-tenancy');
  if (id !== undefined) return id;
  throw new GatewayError('provider.setting_missing', {
    field: 'x-service-oracle-compartment-id',
    message:
      'This provider needs the setting oracle-compartment-id: send x-service-oracle-compartment-id, or keep it in the provider.',
  });
}

/** A dedicated cluster is asked by its endpoint's id, which stands where a model's name does. */
function servingMode(model: string, setting: ReadSetting): JsonObject {
  const mode = setting('oracle-serving-mode')?.toUpperCase() ?? 'ON_DEMAND';
  if (mode === 'ON_DEMAND') return { servingType: mode, modelId: model };
  if (mode === 'DEDICATED') return { servingType: mode, endpointId: model };
  throw new GatewayError('provider.setting_invalid', {
    field: 'x-service-oracle-serving-mode',
    message: 'The setting oracle-serving-mode may be ON_DEMAND or DEDICATED.',
  });
}

/** An endpoint's id does not tell whose model it serves: then a setting must. */
function apiFormat(model: string, setting: ReadSetting): string {
  const set = setting('oracle-api-format')?.toUpperCase();
  return set ?? (model.startsWith('cohere.') ? 'COHERE' : 'GENERIC');
}
