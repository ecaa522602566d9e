import { modelSegment, optionalSetting } from '../address.ts';
import type { CallFacts } from '../call-facts.ts';
import { readModel } from '../codecs/bedrock-converse/models.ts';
import type { Template } from '../contract.ts';
import type { SettingName } from '../setting-kinds.ts';

const regionDefault = 'us-east-1';

/** A regional host of AWS, e.g. `bedrock-runtime`; China's partition has a domain of its own. */
export function regionalHost(service: string): Template {
  return ({ setting }) => {
    const region = regionOf(setting);
    const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    return `https://${service}.${region}.${domain}`;
  };
}

export function regionOf(setting: CallFacts['setting']): string {
  return optionalSetting(setting, 'aws-region', regionDefault);
}

/** `/model/<id>/<operation>`, the id one encoded segment whatever it has in it. */
export function modelOperation(whole: string, streamed = whole): Template {
  return ({ model, stream }) =>
    `/model/${modelSegment(readModel(model).id)}/${stream ? streamed : whole}`;
}

export const invoke = modelOperation('invoke');

/** How AWS learns who asks, and where: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html */
export const awsSettings: readonly SettingName[] = [
  'aws-region',
  'aws-auth-type',
  'aws-access-key-id',
  'aws-secret-access-key',
  'aws-session-token',
  'aws-role-arn',
  'aws-external-id',
];
