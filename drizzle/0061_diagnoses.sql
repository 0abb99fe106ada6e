CREATE TABLE `diagnoses` (
	`project_id` text NOT NULL,
	`connection_id` text NOT NULL,
	`at` integer NOT NULL,
	`cause` text NOT NULL,
	`verdict` text NOT NULL,
	`signed_by` text,
	`sender` text,
	`skew_ms` integer,
	`tried` integer NOT NULL,
	`reason` text,
	`size` integer NOT NULL,
	`media_type` text,
	`headers` text NOT NULL,
	PRIMARY KEY(`project_id`, `connection_id`, `at`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `diagnoses_at` ON `diagnoses` (`at`);--> statement-breakpoint
CREATE TABLE `removed_secrets` (
	`project_id` text NOT NULL,
	`connection_id` text NOT NULL,
	`id` text NOT NULL,
	`key` integer NOT NULL,
	`box` text NOT NULL,
	`removed_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `connection_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `removed_secrets_removed_at` ON `removed_secrets` (`removed_at`);