import { azureVendors } from './azure.ts';
import { bedrockVendors } from './bedrock.ts';
import { furtherVendors } from './further.ts';
import { serviceVendors } from './service.ts';
import type { Vendor } from './vendor.ts';

export const vendors: readonly Vendor[] = [
  ...azureVendors,
  ...bedrockVendors,
  ...furtherVendors,
  ...serviceVendors,
];
