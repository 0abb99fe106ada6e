CREATE TABLE `cause_mutes` (
	`project_id` text NOT NULL,
	`connection_id` text NOT NULL,
	`kind` text NOT NULL,
	`code` text NOT NULL,
	`until` integer,
	`muted_at` integer NOT NULL,
	`muted_by` text NOT NULL,
	PRIMARY KEY(`project_id`, `connection_id`, `kind`, `code`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `cause_mutes_until` ON `cause_mutes` (`until`) WHERE until IS NOT NULL;