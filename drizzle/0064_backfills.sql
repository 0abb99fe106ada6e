CREATE TABLE `backfills` (
	`project_id` text NOT NULL,
	`connection_id` text NOT NULL,
	`checked_until` integer,
	`looks_from` integer,
	`looks_until` integer,
	`cursor` text,
	`missed` text DEFAULT '{}' NOT NULL,
	`gaps` text DEFAULT '[]' NOT NULL,
	`error` text,
	`due_at` integer,
	`lease_token` text,
	`lease_until` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`project_id`, `connection_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `backfills_due` ON `backfills` (`due_at`) WHERE due_at IS NOT NULL;