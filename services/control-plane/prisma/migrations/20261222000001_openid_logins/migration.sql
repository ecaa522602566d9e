-- The OpenID provider at which an organisation's people log in: as it may be shown, and its secret sealed.

ALTER TABLE "organisations"
  ADD COLUMN "oidc_settings" JSONB,
  ADD COLUMN "sealed_oidc_secrets" BYTEA;
