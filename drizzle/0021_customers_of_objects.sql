DROP INDEX `billing_customer`;--> statement-breakpoint
CREATE INDEX `billing_customer` ON `billing_objects` (`project_id`,`kind`,`customer`,`vendor`,`vendor_id`) WHERE customer IS NOT NULL;