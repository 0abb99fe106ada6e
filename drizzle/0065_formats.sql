CREATE TABLE `format_findings` (
	`project_id` text NOT NULL,
	`connection_id` text NOT NULL,
	`vanished` text NOT NULL,
	`words` text NOT NULL,
	`api_version` text NOT NULL,
	PRIMARY KEY(`project_id`, `connection_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `formats` (
	`project_id` text NOT NULL,
	`connection_id` text NOT NULL,
	`api_version` text NOT NULL,
	`kind` text NOT NULL,
	`week` integer NOT NULL,
	`events` integer NOT NULL,
	`fields` text NOT NULL,
	`words` text NOT NULL,
	`first_event` text NOT NULL,
	`last_event` text NOT NULL,
	PRIMARY KEY(`project_id`, `connection_id`, `api_version`, `kind`, `week`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `formats_week` ON `formats` (`week`);