import { certificates, optionalSecret, optionalText } from './define-settings.ts';

/** A service's certificate, for its gRPC port and, unless it has another, as a client of the others. */
export const serverTlsSettings = {
  TLS_CERT_PATH: optionalText('PEM file of our certificate'),
  TLS_KEY_PATH: optionalText('PEM file of its key'),
  TLS_CA_PATH: optionalText(
    'PEM file of the authority that signed the other services’ certificates; with it the gRPC port hears no client without one',
  ),
};

/** What a service shows as a client of the others, where it differs. */
export const clientTlsSettings = {
  TLS_CERT: certificates('our certificate as a client, PEM; default: TLS_CERT_PATH'),
  TLS_KEY: optionalSecret('its key, PEM; default: TLS_KEY_PATH'),
  TLS_CA: certificates('authority of the servers we ask, PEM; default: TLS_CA_PATH'),
};
