CREATE TABLE `notices` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`kind` text NOT NULL,
	`object_id` text NOT NULL,
	`facts` text NOT NULL,
	`opened_at` integer NOT NULL,
	`closed_at` integer,
	`mail_due_at` integer,
	`mailed_at` integer,
	`tries` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`project_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `notices_object` ON `notices` (`project_id`,`kind`,`object_id`);--> statement-breakpoint
CREATE INDEX `notices_open` ON `notices` (`project_id`,`id`) WHERE closed_at IS NULL;--> statement-breakpoint
CREATE INDEX `notices_closed` ON `notices` (`closed_at`) WHERE closed_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `notices_due` ON `notices` (`mail_due_at`) WHERE mail_due_at IS NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `project_mails_day` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `project_mails_sent` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `members` ADD `mail` text DEFAULT 'all' NOT NULL;--> statement-breakpoint
CREATE INDEX `api_keys_expiring` ON `api_keys` (`expires_at`) WHERE expires_at IS NOT NULL AND revoked_at IS NULL;--> statement-breakpoint
CREATE INDEX `devices_token` ON `devices` (`token_hash`);