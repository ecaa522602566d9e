-- What creates answered under the keys that callers chose, for as long as they may be sent again.
CREATE TABLE "idempotency_keys" (
    "id" TEXT NOT NULL,
    "organisation_id" UUID NOT NULL,
    "attempt_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "resource_id" TEXT,
    "sealed_answer" BYTEA NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "idempotency_keys_organisation_id_idx" ON "idempotency_keys"("organisation_id");
CREATE INDEX "idempotency_keys_expires_at_idx" ON "idempotency_keys"("expires_at");
