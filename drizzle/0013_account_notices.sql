CREATE TABLE `account_browsers` (
	`user_id` text NOT NULL,
	`browser` text NOT NULL,
	`seen_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `browser`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `account_browsers_seen` ON `account_browsers` (`seen_at`);--> statement-breakpoint
ALTER TABLE `users` ADD `notices` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `notices_day` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `notices_sent` integer DEFAULT 0 NOT NULL;