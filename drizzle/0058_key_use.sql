CREATE TABLE `api_key_days` (
	`project_id` text NOT NULL,
	`key_id` text NOT NULL,
	`day` integer NOT NULL,
	`counts` text NOT NULL,
	`seen` text NOT NULL,
	PRIMARY KEY(`project_id`, `key_id`, `day`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `api_keys` ADD `last_use` text;