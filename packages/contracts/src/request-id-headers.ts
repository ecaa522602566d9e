/** Header that names the request, in both directions. */
export const requestIdHeader = 'x-service-request-id';
/** The same, where vendors' SDKs look for it. */
export const shownRequestIdHeader = 'x-request-id';
