-- How far the audit log of each organisation was forwarded, and who is at it.
CREATE TABLE "audit_forwards" (
  "organisation_id" UUID NOT NULL,
  "sequence" BIGINT NOT NULL DEFAULT 0,
  "lease_until" TIMESTAMPTZ(3) NOT NULL DEFAULT '1970-01-01 00:00:00+00',
  CONSTRAINT "audit_forwards_pkey" PRIMARY KEY ("organisation_id"),
  CONSTRAINT "audit_forwards_organisation_id_fkey" FOREIGN KEY ("organisation_id")
    REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
