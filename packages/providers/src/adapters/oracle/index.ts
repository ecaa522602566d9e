import { optionalSetting } from '../../address.ts';
import type { ProviderEntry } from '../../contract.ts';

/** Oracle's chat is a format of its own, which `codecs/oci-chat` knows; requests are signed. */
export const oracle: ProviderEntry = {
  id: 'oracle',
  name: 'Oracle Cloud (OCI) Generative AI',
  baseUrl: 'https://inference.generativeai.{oracle-region}.oci.oraclecloud.com',
  auth: { type: 'oci' },
  endpoints: {
    chatComplete: {
      format: 'oci-chat',
      path: ({ setting }) =>
        `/${optionalSetting(setting, 'oracle-api-version', '20231130')}/actions/chat`,
    },
  },
  accountHeaders: ['x-cross-tenancy-request', 'opc-obo-token'],
  settings: [
    'oracle-region',
    'oracle-api-version',
    'oracle-api-format',
    'oracle-compartment-id',
    'oracle-serving-mode',
    'oracle-tenancy',
    'oracle-user',
    'oracle-fingerprint',
    'oracle-private-key',
    'oracle-key-passphrase',
  ],
  source:
    'https://docs.oracle.com/en-us/iaas/api/#/EN/generative-ai-inference/latest/ChatResult/Chat, November 2026',
};
