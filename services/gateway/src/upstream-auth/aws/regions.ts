import type { CloudSettings } from '../../cloud-settings.ts';
import { settingInvalid, settingMissing } from '../failure.ts';

const publicDomain = 'amazonaws.com';

/** A region in a host of AWS: `bedrock-runtime.eu-central-1.amazonaws.com`. Other hosts may look alike. */
const regionOfHost =
  /\.([a-z]{2}(?:-[a-z]+)+-\d)\.(?:[a-z0-9-]+\.)*(?:amazonaws\.com(?:\.cn)?|api\.aws)$/;

/** Where a request goes decides how it is signed; without a region in the host, the settings do. */
export function regionOf(
  origin: string,
  setting: (name: string) => string | undefined,
  cloud: CloudSettings,
): string {
  const region =
    regionOfHost.exec(new URL(origin).hostname)?.[1] ??
    setting('aws-region') ??
    cloud.AWS_REGION ??
    cloud.AWS_DEFAULT_REGION;
  if (region === undefined) throw settingMissing('aws-region', 'AWS');
  if (!/^[a-z0-9-]{1,64}$/.test(region)) throw settingInvalid('aws-region', 'is no region');
  return region;
}

/** Where this machine asks AWS for what belongs to no region of a provider. */
export function homeRegion(cloud: CloudSettings): string {
  return cloud.AWS_REGION ?? cloud.AWS_DEFAULT_REGION ?? 'us-east-1';
}

function domainOf(region: string, cloud: CloudSettings): string {
  return (
    cloud.AWS_ENDPOINT_DOMAIN ?? (region.startsWith('cn-') ? `${publicDomain}.cn` : publicDomain)
  );
}

/** The catalogue knows the public partition; others have the same names under a domain of their own. */
export function inPartition(origin: string, region: string, cloud: CloudSettings): string {
  const domain = domainOf(region, cloud);
  return domain === publicDomain || !origin.endsWith(`.${publicDomain}`)
    ? origin
    : `${origin.slice(0, -publicDomain.length)}${domain}`;
}

export function stsUrl(region: string, cloud: CloudSettings): string {
  const url = cloud.AWS_ENDPOINT_URL_STS;
  return url === undefined
    ? `https://sts.${region}.${domainOf(region, cloud)}`
    : url.replace(/\/+$/, '');
}
