DROP INDEX `consumer_ids_consumer`;--> statement-breakpoint
CREATE INDEX `consumer_ids_consumer` ON `consumer_ids` (`project_id`,`consumer_id`,`position`);--> statement-breakpoint
CREATE INDEX `members_listed` ON `members` (`project_id`,`created_at`,`user_id`);