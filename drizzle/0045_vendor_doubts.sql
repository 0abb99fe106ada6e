CREATE TABLE `vendor_doubts` (
	`project_id` text NOT NULL,
	`vendor` text NOT NULL,
	`kind` text NOT NULL,
	`object_id` text NOT NULL,
	`due_at` integer NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`lease_token` text,
	`lease_until` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`project_id`, `vendor`, `kind`, `object_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `vendor_doubts_due` ON `vendor_doubts` (`project_id`,`due_at`);