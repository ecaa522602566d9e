-- Who set a webhook is told why it takes no alerts.
ALTER TABLE "alert_deliveries" ADD COLUMN "fault" TEXT;
