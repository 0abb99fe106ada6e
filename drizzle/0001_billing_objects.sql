CREATE TABLE `billing_objects` (
	`project_id` text NOT NULL,
	`kind` text NOT NULL,
	`vendor_id` text NOT NULL,
	`vendor` text NOT NULL,
	`customer` text,
	`subscription` text,
	`status` text NOT NULL,
	`ambiguous` integer DEFAULT 0 NOT NULL,
	`version` integer NOT NULL,
	`candidates` text NOT NULL,
	PRIMARY KEY(`project_id`, `kind`, `vendor_id`, `vendor`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `billing_customer` ON `billing_objects` (`project_id`,`kind`,`customer`,`vendor_id`,`vendor`) WHERE customer IS NOT NULL;--> statement-breakpoint
CREATE INDEX `billing_subscription` ON `billing_objects` (`project_id`,`kind`,`subscription`,`vendor_id`,`vendor`) WHERE subscription IS NOT NULL;--> statement-breakpoint
CREATE INDEX `billing_status` ON `billing_objects` (`project_id`,`status`,`vendor_id`,`vendor`) WHERE kind = 'subscription';--> statement-breakpoint
CREATE INDEX `billing_ambiguous` ON `billing_objects` (`project_id`,`kind`) WHERE ambiguous = 1;