CREATE INDEX history_of_imports ON history (reason, address) WHERE verb = 'import';
CREATE INDEX history_by_person ON history (who, at);
