CREATE TABLE `devices` (
	`project_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`id` text NOT NULL,
	`consumer_id` text NOT NULL,
	`installation_id` text NOT NULL,
	`platform` text NOT NULL,
	`name` text,
	`model` text,
	`os_version` text,
	`app_version` text,
	`state` text NOT NULL,
	`last_seen_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	PRIMARY KEY(`project_id`, `token_hash`),
	CONSTRAINT "devices_revoked_at" CHECK(("devices"."state" = 'revoked') = ("devices"."revoked_at" IS NOT NULL))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `devices_installation` ON `devices` (`project_id`,`consumer_id`,`installation_id`);--> statement-breakpoint
CREATE INDEX `devices_consumer` ON `devices` (`project_id`,`consumer_id`,`state`,`id`);