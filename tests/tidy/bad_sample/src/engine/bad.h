int declared_without_a_word();
